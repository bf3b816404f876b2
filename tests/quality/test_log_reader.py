"""The log read without Spark gives the same figures as DESCRIBE CLUSTERING, or none."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError
from hypothesis import given
from hypothesis import strategies as st
from zcube import ClusteredTable, ZCubeError, cli, report
from zcube._log import actions, conditions, deltalake, quality, statistics, types
from zcube._log.actions import NotServedError
from zcube._log.conditions import Condition
from zcube._log.deltalake import DeltaLakeLog
from zcube.plots import timeline
from zcube.plots.versions import measure

from tests.reference import overlaps
from tests.reference.overlaps import NULLS, UNKNOWN
from tests.support import written_log
from tests.support.tables import KINDS, SMALL, assert_figures, points, scalar

ROOT = Path(__file__).parents[2]
X = {"name": "x", "type": "integer", "nullable": True, "metadata": {}}
SCHEMA_OF_X = json.dumps({"type": "struct", "fields": [X]})
MILLISECOND = timedelta(milliseconds=1)
CONDITIONS = ROOT / "jvm/spark/src/main/resources/error/zcube-error-conditions.json"
EXTENTS = st.one_of(
    st.sampled_from([UNKNOWN, NULLS]),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ends: tuple(sorted(ends))),
)


def ranges(extents):
    given_ = np.array([e not in (UNKNOWN, NULLS) for e in extents], bool)
    low = np.array([e[0] if g else 0 for e, g in zip(extents, given_, strict=True)])
    high = np.array([e[1] if g else 0 for e, g in zip(extents, given_, strict=True)])
    nulls = np.array([e == NULLS for e in extents], bool)
    return quality.FileRanges.of(low, high, given_, nulls)


@given(st.lists(st.tuples(EXTENTS, EXTENTS, EXTENTS), min_size=1, max_size=40))
def test_figures_are_those_of_brute_force(files):
    columns = list(zip(*files, strict=True))
    for extents in columns:
        assert_figures(quality.of_column("c", ranges(extents), ""), overlaps.column(extents))
    for count in (1, 2, 3):
        assert_figures(
            quality.of_boxes("*", [ranges(e) for e in columns[:count]], ""),
            overlaps.boxes(columns[:count]),
        )


def test_figures_of_more_boxes_than_one_chunk_are_those_of_brute_force():
    rng = random.Random(5)
    columns = [[], []]
    for _ in range(900):
        for extents in columns:
            low = rng.randrange(3000)
            extents.append((low, low + rng.randrange(200)) if rng.random() < 0.97 else UNKNOWN)
    assert_figures(quality.of_boxes("*", [ranges(e) for e in columns], ""), overlaps.boxes(columns))


def same(spark, path, columns=None):
    """Assert that both results are identical, to the last digit, and return them."""
    own = DeltaLakeLog.open(path).quality(columns=columns)
    spark_says = ClusteredTable.for_path(spark, path).quality(columns=columns)
    for ours, theirs in zip(own.columns, spark_says.columns, strict=True):
        assert ours == theirs
    assert own.to_dict() == spark_says.to_dict()
    assert str(own) == str(spark_says)
    return own


@pytest.mark.long
def test_clustered_tables_are_read_as_by_spark(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 8000, 12).write.format("delta").clusterBy("x", "s").save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize()
    points(spark, 9000, 300, 2).write.format("delta").mode("append").save(path)
    found = same(spark, path)
    assert [column.column for column in found.columns] == ["x", "s"]
    assert (found.cubes, found.all.files > 10, found.bytes_fresh > 0) == (1, True, True)
    same(spark, path, ["Y"])
    assert same(spark, path, ["s", "x"]).bytes_other_columns > 0
    table.cluster_by("y")
    assert same(spark, path).cubes == 0


def test_a_copy_was_clustered_when_its_rows_were(spark, path):
    def file(column, modified, **more):
        columns = {"ZCUBE_ZORDER_BY": f'["{column}"]', "ZCUBE_PHYSICAL_COLUMNS": f'[["{column}"]]'}
        return {"modificationTime": modified, "tags": {"ZCUBE_ID": column} | columns | more}

    field = {"type": "long", "nullable": True, "metadata": {}}
    schema = {"type": "struct", "fields": [{"name": name, **field} for name in "cd"]}
    copy = file("c", 5, ZCUBE_CLUSTERED_TIME="1")
    written_log.write(path, json.dumps(schema), [copy, file("d", 3), file("c", 2)])
    assert [column.column for column in same(spark, path).columns] == ["d"]
    later = file("c", 0, ZCUBE_CLUSTERED_TIME="9000000000000") | {"path": "b", "size": 1}
    commit(path, 1, {"add": later | {"partitionValues": {}, "dataChange": True}})
    assert [column.column for column in same(spark, path).columns] == ["c"]
    later["tags"]["ZCUBE_CLUSTERED_TIME"] = "soon"
    commit(path, 2, {"add": later | {"partitionValues": {}, "dataChange": True}})
    with pytest.raises(NotServedError, match="a malformed tag"):
        DeltaLakeLog.open(path).quality()
    quality_of_d = ClusteredTable.for_path(spark, path).quality()
    assert [column.column for column in quality_of_d.columns] == ["d"]


def test_tags_that_name_no_columns_are_read_as_by_spark(spark, path):
    by = ('["c"]', '["d"]', "[]", '{"c": 1}', "5", '"c"')
    tagged = [{"tags": {"ZCUBE_ID": str(i), "ZCUBE_ZORDER_BY": tag}} for i, tag in enumerate(by)]
    written_log.write(path, LONG, tagged)
    found = same(spark, path, ["c"])
    sizes = (found.bytes_in_cubes, found.bytes_other_columns, found.bytes_fresh)
    assert (found.cubes, *sizes) == (1, 1000, 1001, 1002 + 1003 + 1004 + 1005)
    odd = {"ZCUBE_ID": "odd", "ZCUBE_ZORDER_BY": "[1]"}
    more = {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1, "tags": odd}
    commit(path, 1, {"add": more | {"dataChange": True}})
    assert "a malformed tag: [1]" in rejected(path, ["c"])


def test_checkpoints_and_removed_files_are_read_as_by_spark(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    rows = points(spark, 0, 6000, 6).selectExpr("*", "named_struct('a', x) n", "id `p.q`")
    rows.write.format("delta").option("delta.checkpointInterval", "3").save(path)
    table = ClusteredTable.for_path(spark, path)
    for columns in (["x", "y"], ["`p.q`", "n.a"]):
        table.optimize(zorder_by=columns)
        rows.limit(50).write.format("delta").mode("append").save(path)
        found = same(spark, path)
        assert found.cubes == 1
    assert [column.column for column in found.columns] == ["`p.q`", "n.a"]
    assert found.bytes_other_columns == 0
    assert same(spark, path, ["y", "id"]).bytes_in_cubes == 0
    names = {file.name for file in (DeltaLakeLog.open(path)._path / "_delta_log").iterdir()}
    assert any(name.endswith(".checkpoint.parquet") for name in names)
    # Older versions, from before the checkpoint and after it.
    for version in (0, 2, 4):
        then = table._log.at(version).quality(columns=["x", "y"])
        assert (
            DeltaLakeLog.open(path, version).quality(columns=["x", "y"]).to_dict() == then.to_dict()
        )


def test_logs_of_other_writers_are_read_as_by_spark(spark, path):
    """All types; statistics missing, partial and inverted."""
    rng = random.Random(20261121)
    names = [f"c{i}" for i in range(len(KINDS))]
    fields = [
        {"name": n, "type": kind, "nullable": True, "metadata": {}}
        for n, kind in zip(names, KINDS, strict=True)
    ]
    files = []
    for _ in range(50):
        stats = {"numRecords": 10, "minValues": {}, "maxValues": {}, "nullCount": {}}
        for name, kind in zip(names, KINDS, strict=True):
            low, what = rng.randrange(-100, 20), rng.random()
            if what < 0.9:
                stats["minValues"][name] = scalar(kind, low)[0]
                stats["nullCount"][name] = 0
            if what < 0.85:
                high = low + rng.choice([0, 1, 5, 90, 90, -20])
                stats["maxValues"][name] = scalar(kind, high)[0]
            if what >= 0.95:
                stats["nullCount"][name] = 10
        files.append({"stats": stats})
    files[7] = {}
    files[8]["clusteringProvider"] = "somebody"
    schema = json.dumps({"type": "struct", "fields": fields})
    written_log.write(path, schema, files)
    found = same(spark, path, names)
    assert "have a maximum below their minimum" in found.columns[0].notes
    assert found.bytes_other_columns == 1008
    for pair in ([0, 6], [4, 5], [8, 3]):
        same(spark, path, [names[i] for i in pair])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("byte", 128), ("integer", 1.5), ("integer", "7"), ("long", 2**63), ("double", "much"),
        ("decimal(5,2)", 1.125), ("decimal(5,2)", 1000), ("decimal(5,2)", "1"), ("string", 7),
        ("date", "20260101"), ("date", 5), ("timestamp", "2026-01-01T00:00:00"),
        ("double", {"c": 1}), ("timestamp", "+12026-01-01T00:00:00Z"),
        ("string", {"c": "x"}),
    ],
)  # fmt: skip
def test_odd_statistics_are_for_spark_to_judge(path, kind, value):
    fields = [{"name": "c", "type": kind, "nullable": True, "metadata": {}}]
    stats = {"numRecords": 1, "minValues": {"c": value}, "maxValues": {}, "nullCount": {"c": 0}}
    written_log.write(path, json.dumps({"type": "struct", "fields": fields}), [{"stats": stats}])
    assert rejected(path, ["c"]).endswith(f"which is not of type {kind}")


def test_a_decimal_without_digits_before_its_point_may_be_zero():
    zero = types.find("decimal(2,2)")
    for value in (0, Decimal("0.00"), Decimal("-0.99")):
        assert zero.read(value) == value
    for value in (1, Decimal("0.001"), Decimal("NaN")):
        with pytest.raises(ValueError, match="digits"):
            zero.read(value)


def test_errors_have_the_text_of_sparks(path):
    fields = [{"name": n, "type": "long", "nullable": True, "metadata": {}} for n in ("c", "b c")]
    written_log.write(path, json.dumps({"type": "struct", "fields": fields}), [{}])
    log = DeltaLakeLog.open(path)
    texts = {
        name: "\n".join(condition["message"])
        for name, condition in json.loads(CONDITIONS.read_text(encoding="utf-8")).items()
    }
    ours = [value for value in vars(conditions).values() if isinstance(value, Condition)]
    assert {condition.name: condition.template for condition in ours}.items() <= texts.items()
    with pytest.raises(ZCubeError) as rejection:
        log.quality()
    name = "ZCUBE_NO_CLUSTERING_COLUMNS"
    assert str(rejection.value) == f"[{name}] {texts[name]}".replace("<table>", path)
    with pytest.raises(ZCubeError) as rejection:
        log.quality(columns=["a-b"])
    assert str(rejection.value).startswith(
        f"[ZCUBE_COLUMN_NOT_FOUND] There is no column `a-b` in {path}. "
    )
    assert str(rejection.value).endswith(": c, `b c`.")


def test_what_spark_would_sample_is_left_to_spark(path, monkeypatch):
    scala = (ROOT / "jvm/core/src/main/scala/io/zcube/quality/LayoutQuality.scala").read_text()
    assert f"val ExactBoxes = {deltalake._MAX_FILES}\n" in scala
    for start in range(3):
        rows = {"x": [start, start + 1], "y": [5 - start, 9]}
        write_deltalake(path, pyarrow.table(rows), mode="append")
    monkeypatch.setattr(deltalake, "_MAX_FILES", 3)
    log = DeltaLakeLog.open(path)
    assert log.quality(columns=["x", "y"]).all.files == 3
    monkeypatch.setattr(deltalake, "_MAX_FILES", 2)
    with pytest.raises(NotServedError, match="above 2 files Spark measures a sample"):
        log.quality(columns=["x", "y"])
    # One column takes n log n, so Spark measures all files.
    assert_figures(log.quality(columns=["x"]).all, overlaps.boxes([[(0, 1), (1, 2), (2, 3)]]))


def test_a_table_that_delta_rs_wrote_is_read_as_by_spark(spark, path):
    rng = random.Random(7)
    for batch in range(8):
        start = rng.randrange(300)
        values = [start + rng.randrange(60) for _ in range(50)]
        columns = {
            "n": values,
            "f": [value / 7 for value in values],
            "t": [f"{'long ' * 9}{value:03}é" for value in values],
            "d": [date(2026, 1, 1 + value % 28) for value in values],
            "empty": pyarrow.nulls(50, pyarrow.int64()) if batch < 5 else values,
            "s": [{"leaf": -value} for value in values],
            "b": [value > 100 for value in values],
        }
        write_deltalake(path, pyarrow.table(columns), mode="append")
    found = same(spark, path, ["n", "f", "t", "d", "empty", "s.leaf", "b"])
    assert found["empty"].files_with_stats == 3
    assert found["b"].files_with_stats == 0


def test_nulls_and_deletion_vectors_are_read_as_by_spark(spark, path):
    rows = spark.range(0, 1000, 1, 5).selectExpr(
        "id", "if(id < 400, NULL, id % 300) n", "if(id < 200, double('NaN'), -id / 3) d",
        "timestamp_millis(id * 77777) t", "float(id) / 3 f",
    )  # fmt: skip
    rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(path)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 9 = 0")
    assert same(spark, path, ["n", "id"])["n"].files_with_stats == 3
    same(spark, path, ["d", "t", "f"])


def rejected(path, columns=("x",), **arguments):
    with pytest.raises(NotServedError) as rejection:
        DeltaLakeLog.open(path).quality(columns=list(columns), **arguments)
    return str(rejection.value)


def test_what_only_delta_reads_right_is_left_to_it(spark, tmp_path):
    def written(name, rows=None, **options):
        path = str(tmp_path / name)
        rows = points(spark, 0, 100) if rows is None else rows
        writer = rows.write.format("delta").options(**options)
        writer.partitionBy("p").save(path) if "p" in rows.columns else writer.save(path)
        return path

    mapped = written("mapped", **{"delta.columnMapping.mode": "name"})
    chosen = written("chosen", **{"delta.dataSkippingStatsColumns": "x"})
    parts = written("parts", points(spark, 0, 100).selectExpr("x", "id % 2 p"))
    wide = written("wide", spark.range(9).selectExpr(*[f"id c{i}" for i in range(33)]))
    odd = written("odd", spark.range(9).selectExpr("id", "array(id) a", "named_struct('b', id) s"))
    assert rejected(mapped) == "column mapping"
    assert "delta.dataSkippingStatsColumns" in rejected(chosen)
    assert rejected(parts, ["p"]) == "a partition column"
    assert DeltaLakeLog.open(parts).quality(columns=["x"]).all.files == 2
    assert "more than 32 columns" in rejected(wide, ["c0"])
    assert "not a single value" in rejected(odd, ["a"])
    assert "not a single value" in rejected(odd, ["s"])
    assert "not a local folder of a Delta table" in rejected(str(tmp_path / "nowhere"))
    assert "not a local folder of a Delta table" in rejected("s3://bucket/table")
    assert "data skipping" in rejected(odd, ["id"], where="id > 5")
    with pytest.raises(ZCubeError, match="ZCUBE_NO_CLUSTERING_COLUMNS"):
        DeltaLakeLog.open(odd).quality()
    (tmp_path / "odd/_delta_log" / f"{0:020d}.checkpoint.0000000001.0000000002.parquet").touch()
    assert "deltalake can't read it" in rejected(odd, ["id"]) or "several files" in rejected(
        odd, ["id"]
    )


LONG = json.dumps(
    {
        "type": "struct",
        "fields": [{"name": "c", "type": "long", "nullable": True, "metadata": {}}],
    }
)


def commit(path, version, *actions):
    file = Path(path) / "_delta_log" / f"{version:020d}.json"
    file.write_text("".join(json.dumps(action) + "\n" for action in actions))


def test_commits_have_the_numbers_of_their_files(path):
    written_log.write(path, LONG, [{}])
    commit(path, 1, {"commitInfo": {"timestamp": 5000, "operation": "OPTIMIZE"}})
    commit(path, 2, {"txn": {"appId": "a", "version": 1}})
    commit(path, 3, {"commitInfo": {"operation": "WRITE", "operationMetrics": {"n": 7}}})
    log = DeltaLakeLog.open(path)
    # Another writer's, after the table was opened.
    commit(path, 4, {"commitInfo": {"timestamp": 6000, "operation": "DELETE"}})
    found = [(row["version"], row["operation"], row["operationMetrics"]) for row in log.commits()]
    assert found == [(3, "WRITE", {"n": "7"}), (2, None, {}), (1, "OPTIMIZE", {}), (0, None, {})]
    assert [row["version"] for row in log.commits(2)] == [3, 2]
    assert report.page(log, ["c"]).count("Version 3 of ") == 1


def set_written(path, *seconds):
    """Set when the commits' files were written, as after a copy; from version 0."""
    for version, second in enumerate(seconds):
        file = Path(path) / "_delta_log" / f"{version:020d}.json"
        os.utime(file, ns=(0, round(second * 10**9)))


def test_a_commit_was_made_when_its_file_was_written_but_after_the_one_before(path):
    written_log.write(path, LONG, [{}])
    for version in range(1, 5):
        commit(path, version, {"commitInfo": {"timestamp": 5000, "operation": "WRITE"}})
    set_written(path, 100, 99.5, 100.001, 200.0029, 7)
    log = DeltaLakeLog.open(path)

    def times(*count):
        return [
            (row["timestamp"] - datetime.fromtimestamp(0)) // MILLISECOND
            for row in log.commits(*count)
        ]

    assert times() == [200_003, 200_002, 100_002, 100_001, 100_000]
    # Delta compares only the commits that it lists.
    assert times(1) == [7_000]
    assert times(3) == [200_003, 200_002, 100_001]


IN_COMMIT = "delta.enableInCommitTimestamps"


@pytest.mark.parametrize("in_commit", ["never", "from the first on", "from the third on"])
def test_commits_have_the_times_of_describe_history(spark, path, in_commit):
    properties = {IN_COMMIT: "true"} if in_commit == "from the first on" else {}
    for _ in range(2):
        spark.range(3).write.format("delta").options(**properties).mode("append").save(path)
    if in_commit == "from the third on":
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('{IN_COMMIT}' = 'true')")
    for _ in range(3):
        spark.range(3).write.format("delta").mode("append").save(path)
    set_written(path, 5000, 5000, 4000.25, 7000, 6000)
    table, log = ClusteredTable.for_path(spark, path), DeltaLakeLog.open(path)
    assert log.version >= 4
    for count in (None, 1, 2, 4):
        theirs = [(row["version"], row["timestamp"]) for row in table._log.commits(count)]
        assert [(row["version"], row["timestamp"]) for row in log.commits(count)] == theirs
    old = datetime.fromtimestamp(9000)
    expected = {"never": 5, "from the first on": 0, "from the third on": 2}[in_commit]
    assert sum(row["timestamp"] < old for row in log.commits()) == expected


@pytest.mark.parametrize(
    ("properties", "info", "reason"),
    [
        ({}, {"timestamp": 5000}, "commit 0 has the time None"),
        ({}, {"inCommitTimestamp": "5000"}, "commit 0 has the time '5000'"),
        (
            {"delta.inCommitTimestampEnablementVersion": "0"},
            {"inCommitTimestamp": 5000},
            "only one",
        ),
    ],
)
def test_a_commit_without_the_time_that_it_must_have_is_for_spark_to_judge(
    path, properties, info, reason
):
    written_log.write(path, LONG, [{}])
    written_log.edit(
        path,
        0,
        "metaData",
        lambda data: data.update(configuration={IN_COMMIT: "true", **properties}),
    )
    file = Path(path) / "_delta_log" / f"{0:020d}.json"
    file.write_text(json.dumps({"commitInfo": info}) + "\n" + file.read_text())
    with pytest.raises(NotServedError, match=reason):
        DeltaLakeLog.open(path).commits()


def test_a_report_names_the_zone_of_its_times(path, monkeypatch):
    written_log.write(path, LONG, [{}])
    commit(path, 1, {"commitInfo": {"operation": "OPTIMIZE"}})
    # A second of summer time, and one of winter time.
    set_written(path, 1_753_920_000, 1_767_225_600)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        page = report.page(DeltaLakeLog.open(path), ["c"])
        assert "Version 1 of 2026-01-01 01:00:00 CET, by c." in page
        assert "<td>2026-01-01 01:00:00 CET</td>" in page
        then = report.page(DeltaLakeLog.open(path, 0), ["c"])
        assert "Version 0 of 2025-07-31 02:00:00 CEST" in then
    finally:
        monkeypatch.undo()
        time.tzset()


def test_another_table_in_the_same_folder_is_read_anew(path):
    for low in (1, 2):
        ends = {"minValues": {"c": low}, "maxValues": {"c": 5}}
        written_log.write(path, LONG, [{"stats": {"numRecords": 1, **ends}}])
        (box,) = DeltaLakeLog.open(path).files(["c"])[1]
        assert box.ends == ((low, 5),)
        shutil.rmtree(path)


def test_kept_commits_take_a_bounded_number_of_bytes(path, monkeypatch):
    monkeypatch.setattr(actions, "_kept", actions._KeptCommits(10_000))
    written_log.write(path, LONG, [{}])
    texts = {1: "a" * 4500, 2: "b" * 4500, 3: "c"}
    for version, text in texts.items():
        commit(path, version, {"commitInfo": {"text": text}})
    read = []
    monkeypatch.setattr(actions, "_read_commit", spy(actions._read_commit, read))
    for version in (1, 2, 1, 3, 1, 2):
        file = Path(path) / "_delta_log" / f"{version:020d}.json"
        (action,) = actions.commit(file)
        assert action["commitInfo"]["text"] == texts[version]
        assert actions._kept._bytes <= 10_000
    # The third made room by dropping the second, and only that.
    assert [int(file.stem) for (file,) in read] == [1, 2, 3, 2]


def spy(function, calls):
    """Note the arguments of a function's calls."""

    def noting(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return noting


def test_no_reader_changes_what_others_get_of_a_commit(path):
    written_log.write(path, LONG, [{"tags": {"a": "b"}}])
    file = Path(path) / "_delta_log" / f"{0:020d}.json"
    first = actions.commit(file)
    assert isinstance(first, tuple)
    text = json.dumps(first)
    log = DeltaLakeLog.open(path)
    report.page(log, ["c"])
    log._files[0].tags["a"] = "changed"
    log.commits()[0]["operationMetrics"]["n"] = "changed"
    assert actions.commit(file) is first
    assert json.dumps(first) == text


def test_a_report_says_how_far_back_it_looked(path, monkeypatch):
    written_log.write(path, LONG, [{}])
    for version in range(1, 4):
        commit(path, version, {"commitInfo": {"timestamp": 5000, "operation": "WRITE"}})
    assert "There is none, as far back as the log goes." in report.page(
        DeltaLakeLog.open(path), ["c"]
    )
    monkeypatch.setattr(report, "_MAX_COMMITS", 3)
    log, counts, drawn = DeltaLakeLog.open(path), [], []
    monkeypatch.setattr(log, "commits", spy(log.commits, counts))
    monkeypatch.setattr(timeline, "picture", spy(timeline.picture, drawn))
    assert "There is none in the last 3 commits." in report.page(log, ["c"])
    # So do the pictures, and no part reads the whole history.
    assert counts == [(3,), (1,)]
    ((measured, _optimized),) = drawn
    assert sorted(measured) == [1, 2, 3]


def test_a_report_says_that_the_table_changed_meanwhile(path, monkeypatch):
    written_log.write(path, LONG, [{}])
    log = DeltaLakeLog.open(path)
    assert "changed meanwhile" not in report.page(log, ["c"])
    commit(path, 1, {"commitInfo": {"timestamp": 5000, "operation": "WRITE"}})
    later = DeltaLakeLog.open(path)
    # As Spark, which reads the newest version each time.
    commits = {report._MAX_COMMITS: log.commits(), None: log.commits(), 1: later.commits(1)}
    monkeypatch.setattr(log, "commits", lambda count=None: commits[count])
    page = report.page(log, ["c"])
    assert "Version 0 of " in page
    assert "The table changed meanwhile, up to version 1" in page


@pytest.mark.parametrize(
    "info",
    [
        {"timestamp": None},
        {"timestamp": "2026-01-01"},
        {"timestamp": 10**40},
        {"timestamp": -(10**17)},
        {"timestamp": 5000, "operationMetrics": "none"},
        {"timestamp": 5000, "operationMetrics": [1]},
        "nothing",
    ],
)
def test_an_odd_description_of_a_commit_is_for_spark_to_judge(path, info):
    written_log.write(path, LONG, [{}])
    log = DeltaLakeLog.open(path)
    commit(path, 0, {"commitInfo": info})
    with pytest.raises(NotServedError, match=r"^ZCube's reader of the log can't read it: "):
        log.commits()


@pytest.mark.parametrize("exponent", ["999999999", "-999999999", "9999999999999999999"])
@pytest.mark.parametrize("kind", ["decimal(5,2)", "integer"])
def test_a_number_with_a_huge_exponent_is_for_spark_to_judge(path, kind, exponent):
    schema = LONG.replace('"long"', f'"{kind}"')
    written_log.write(path, schema, [{"stats": f'{{"minValues": {{"c": 1e{exponent}}}}}'}])
    assert re.search("not of type|malformed statistics", rejected(path, ["c"]))


def test_a_checkpoint_without_pyarrow_is_for_spark_to_read(path, monkeypatch):
    for start in range(2):
        write_deltalake(path, pyarrow.table({"x": [start]}), mode="append")
    DeltaTable(path).create_checkpoint()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert rejected(path) == "reading the log without Spark needs pyarrow: pip install 'zcube[log]'"


def test_a_folder_may_be_named_by_its_uri(path, tmp_path, monkeypatch):
    written_log.write(path, LONG, [{}])
    for uri in (f"file:{path}", f"file://{path}", f"file:///{path}"):
        assert DeltaLakeLog.open(uri)._path == Path(path)
    # Another machine's folder isn't this one's.
    for uri in (f"file://host{path}", f"file:/{path}", f"s3:/{path}"):
        with pytest.raises(NotServedError, match=f"^{uri} is not a local folder"):
            DeltaLakeLog.open(uri)
    monkeypatch.chdir(tmp_path)
    assert DeltaLakeLog.open("table").version == 0


def test_the_reader_without_spark_imports_nothing_of_it():
    folder = Path(deltalake.__file__).parent
    modules = {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}
    spark = {name for name, text in modules.items() if "from zcube._spark" in text}
    assert spark == {"spark.py"}
    found = "[name for name in sys.modules if name.partition('.')[0] in ('pyspark', 'py4j')]"
    reading = f"import sys, zcube._log.deltalake; print({found})"
    shown = subprocess.run(
        [sys.executable, "-c", reading], check=True, capture_output=True, text=True, timeout=60
    )
    assert shown.stdout == "[]\n"


def failing_with(error):
    def fail(*_, **__):
        raise error

    return fail


def test_reasons_are_one_line(path, monkeypatch):
    written_log.write(path, LONG, [{}])

    error = DeltaError("no such version\n\nstack backtrace:\n   0: std::backtrace")
    monkeypatch.setattr(deltalake, "DeltaTable", failing_with(error))
    assert rejected(path, ["c"]) == "deltalake can't read it: no such version"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("size"), "KeyError: 'size'"),
        (TypeError("5 is not iterable"), "TypeError: 5 is not iterable"),
        (FileNotFoundError("a commit"), "FileNotFoundError: a commit"),
    ],
)
def test_a_reason_names_the_reader_that_failed(path, monkeypatch, error, reason):
    written_log.write(path, LONG, [{}])
    log = DeltaLakeLog.open(path)
    ours = f"ZCube's reader of the log can't read it: {reason}"
    with monkeypatch.context() as broken:
        broken.setattr(actions, "read", failing_with(error))
        assert rejected(path, ["c"]) == ours
    with monkeypatch.context() as broken:
        broken.setattr(quality, "of_column", failing_with(error))
        with pytest.raises(NotServedError) as rejection:
            log.quality(columns=["c"])
        assert str(rejection.value) == ours
    for method in ("protocol", "schema", "get_add_actions"):
        with monkeypatch.context() as broken:
            broken.setattr(DeltaTable, method, failing_with(error))
            assert rejected(path, ["c"]) == f"deltalake can't read it: {error}"


@pytest.mark.parametrize("error", [NotImplementedError("a dictionary"), Exception("of Arrow")])
def test_an_error_of_deltalake_of_any_kind_leaves_the_log_to_spark(path, monkeypatch, error):
    written_log.write(path, LONG, [{}])
    monkeypatch.setattr(DeltaTable, "get_add_actions", failing_with(error))
    assert rejected(path, ["c"]) == f"deltalake can't read it: {error}"


def test_versions_that_only_spark_reads_are_not_left_out_of_a_history(path):
    odd = {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    written_log.write(path, LONG, [{"stats": {"numRecords": 1, "minValues": {"c": 1}}}])
    commit(path, 1, {"add": {**odd, "stats": "{"}})
    commit(path, 2, {"remove": {"path": "b", "dataChange": True}})
    with pytest.raises(NotServedError, match="version 1: malformed statistics"):
        measure(DeltaLakeLog.open(path), ["c"], 9)


def test_a_report_of_the_log_leaves_out_versions_that_only_spark_reads(path, tmp_path, capsys):
    odd = {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    written_log.write(path, LONG, [{"stats": {"numRecords": 1, "minValues": {"c": 1}}}])
    commit(path, 1, {"add": {**odd, "stats": "{"}})
    commit(path, 2, {"remove": {"path": "b", "dataChange": True}})
    output = tmp_path / "report.html"
    command = [path, "--by", "c", "-o", str(output), "--engine", "log"]
    assert cli.main(["report", *command]) == 0
    missing = capsys.readouterr().err
    expected = "zcube: the report doesn't show version 1, which needs --engine spark: malformed "
    assert missing.startswith(expected)
    assert missing.count("\n") == 1
    assert "<p>Not shown, because only Spark can measure them: 1.</p>" in output.read_text("utf-8")
    found, _ = measure(DeltaLakeLog.open(path), ["c"], 9, {})
    assert sorted(found) == [0, 2]
    # The other engine draws it.
    with pytest.raises(NotServedError, match="version 1: malformed statistics"):
        report.page(DeltaLakeLog.open(path), ["c"])
    history = ["plot", *command, "--kind", "history"]
    history[history.index(str(output))] = str(tmp_path / "history.svg")
    assert cli.main(history) == 1
    assert "can't do this: version 1: malformed statistics" in capsys.readouterr().err


def test_a_version_that_only_spark_measures_is_named(path):
    written_log.write(path, LONG, [{"stats": {"numRecords": 1, "minValues": {"c": 1}}}])
    ends = {"minValues": {"c": "x"}, "maxValues": {"c": "y"}}
    add = {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": True}
    commit(path, 1, {"add": {**add, "stats": json.dumps({"numRecords": 1, **ends})}})
    commit(path, 2, {"remove": {"path": "b", "dataChange": True}})
    with pytest.raises(NotServedError, match=r"^version 1: .* not of type long"):
        measure(DeltaLakeLog.open(path), ["c"], 9)
    commit(path, 3, {"add": {**add, "stats": json.dumps({"numRecords": 1, **ends})}})
    with pytest.raises(NotServedError, match=r"^version 3: "):
        measure(DeltaLakeLog.open(path), ["c"], 9, {})


def test_versions_whose_log_is_gone_are_left_out_of_a_history(path):
    for start in range(5):
        write_deltalake(path, pyarrow.table({"x": [start]}), mode="append")
        if start == 2:
            DeltaTable(path).create_checkpoint()
    (Path(path) / "_delta_log" / f"{0:020d}.json").unlink()
    found, _ = measure(DeltaLakeLog.open(path), ["x"], 9)
    assert sorted(found) == [2, 3, 4]
    # Where commits were compacted, only Delta knows what is gone.
    (Path(path) / "_delta_log" / f"{0:020d}.{1:020d}.compacted.json").touch()
    with pytest.raises(NotServedError, match="version 1: "):
        measure(DeltaLakeLog.open(path), ["x"], 9)


def test_a_log_of_a_checkpoint_alone_has_no_history(path, tmp_path, capsys):
    for start in range(3):
        write_deltalake(path, pyarrow.table({"x": [start], "y": [-start]}), mode="append")
    DeltaTable(path).create_checkpoint()
    for file in (Path(path) / "_delta_log").glob("*.json"):
        file.unlink()
    page = report.page(DeltaLakeLog.open(path), ["x", "y"])
    assert "Version 2, by x, y. From the log alone" in page
    assert "The log has a checkpoint but no commits, so there is no history to show." in page
    assert re.findall("<h2>(.*)</h2>", page) == [
        "Quality", "Files", "Depth", "ZCubes", "Files without statistics",
    ]  # fmt: skip
    command = ["plot", path, "--by", "x", "--kind", "history", "-o", str(tmp_path / "history.svg")]
    assert cli.main(command) == 1
    assert capsys.readouterr().err == (
        f"zcube: The log of {path} has a checkpoint but no commits, so there is no history to draw.\n"
    )


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ({"protocol": {"minReaderVersion": 1, "minWriterVersion": 7,
                       "writerFeatures": ["coordinatedCommits-preview"]}}, "coordinatedCommits-preview"),
        ({"add": {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1,
                  "dataChange": True, "tags": {"ZCUBE_ID": "a", "ZCUBE_ZORDER_BY": "{"}}}, "a malformed tag"),
        ({"add": {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1,
                  "dataChange": True, "stats": "{"}}, "malformed statistics"),
        ({"add": {"path": "b", "partitionValues": {}, "size": 1, "modificationTime": 1,
                  "dataChange": True, "stats": "{}", "tags": 5}}, "deltalake can't read it"),
    ],
)  # fmt: skip
def test_what_the_log_reader_can_not_be_sure_of_is_left_to_spark(path, action, reason):
    written_log.write(path, LONG, [{}])
    commit(path, 1, action)
    assert reason in rejected(path, ["c"])


def test_half_a_character_is_for_spark_to_judge(path):
    schema = LONG.replace('"long"', '"string"')
    written_log.write(path, schema, [{"stats": {"numRecords": 1, "minValues": {"c": "a"}}}])
    file = Path(path) / "_delta_log" / f"{0:020d}.json"
    half = "\\\\ud83d"
    file.write_text(file.read_text().replace('\\"a\\"', f'\\"{half}\\"'))
    assert "not of type string" in rejected(path, ["c"])


def test_statistics_of_many_files_are_read_as_those_of_few(path, monkeypatch):
    rng = random.Random(3)
    files = []
    for _ in range(30):
        low = rng.randrange(100)
        ends = {"minValues": {"c": low}, "maxValues": {"c": low + rng.randrange(20)}}
        files.append({"stats": {"numRecords": 3, "nullCount": {"c": 0}, **ends}})
    written_log.write(path, LONG, files)
    kept = DeltaLakeLog.open(path)
    monkeypatch.setattr(statistics, "_MAX_KEPT", 29)
    log = DeltaLakeLog.open(path)
    assert log._statistics._kept is None
    assert log.quality(columns=["c"]).to_dict() == kept.quality(columns=["c"]).to_dict()
    assert log.files(["c"]) == kept.files(["c"])
    monkeypatch.setattr(deltalake, "_MAX_READ", 29)
    assert "more than 29 files" in rejected(path, ["c"])


def sections(page):
    """A report without its head and its pictures."""
    _head, *rest = page.split("<section>")
    return [part.split('<img src="')[0] for part in rest]


@pytest.mark.long
def test_a_report_is_the_same_as_by_spark(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 6000, 6).selectExpr("x", "date_from_unix_date(y) d", "s").write.format(
        "delta"
    ).save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", "d"])
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, NULL, 'a')")
    log = DeltaLakeLog.open(path)
    for columns in (["x", "d"], ["d", "s"], ["s"]):
        assert log.files(columns) == table._log.files(columns)
    assert log.cubes() == table._log.cubes()
    assert sections(report.page(log)) == sections(report.page(table))
    own, others = log.commits(), table._log.commits()
    for name in ("version", "timestamp", "operation", "operationMetrics"):
        assert [row[name] for row in own] == [row[name] for row in others]
    with pytest.raises(NotServedError):
        report.page(log, predicate="x > 5")


def test_a_folder_that_deltalake_would_take_for_another_is_left_to_spark(tmp_path):
    for name, files in (("a b", 1), ("a%20b", 2), ("a%b", 3), ("a\\b", 4)):
        written_log.write(tmp_path / name, SCHEMA_OF_X, [{}] * files)
    for name, files in (("a b", 1), ("a%b", 3)):
        assert len(DeltaLakeLog.open(str(tmp_path / name)).files(["x"])[1]) == files
    for name in ("a%20b", "a\\b"):
        with pytest.raises(NotServedError, match="for another folder"):
            DeltaLakeLog.open(str(tmp_path / name))


def test_statistics_that_are_nested_too_deeply_are_left_to_spark(path):
    written_log.write(path, SCHEMA_OF_X, [{"stats": "[" * 100_000}])
    with pytest.raises(NotServedError, match="recursion"):
        DeltaLakeLog.open(path).files(["x"])
