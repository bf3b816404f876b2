"""DESCRIBE CLUSTERING and ClusteredTable.quality, compared with all pairs of files in the log."""

import json
import math
import pickle
import random
from datetime import date, timedelta
from decimal import Decimal

import pyarrow
import pytest
from deltalake import write_deltalake
from pyspark.errors import AnalysisException
from pyspark.sql import types as t
from zcube import ClusteredTable, ZCubeError
from zcube._log import unclustered
from zcube._log.deltalake import DeltaLakeLog
from zcube._log.protocol import log_of
from zcube.results.quality import ClusteringQuality

from tests.reference import overlaps
from tests.reference.overlaps import NULLS, UNKNOWN
from tests.support import written_log
from tests.support.log_replay import live_files
from tests.support.skipping import all_of, between, equal_to, must_read
from tests.support.tables import FIGURES, KINDS, SMALL, assert_figures, extents, points, scalar


def check(quality, columns):
    """Compare with the definitions; ``columns`` are lists of extents, in order."""
    assert len(quality.columns) == len(columns)
    for found, expected in zip(quality.columns, columns, strict=True):
        assert_figures(found, overlaps.column(expected))
    assert_figures(quality.all, overlaps.boxes(columns))


def utf8(text):
    return text.encode("utf-8")


def test_figures_are_those_of_the_rows_before_and_after_clustering(spark, path, job_counter):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 8000, 12).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    before = table.quality(columns=["x", "y", "s"])
    check(before, [extents(path, "x"), extents(path, "y"), extents(path, "s", utf8)])
    assert before.bytes == before.bytes_fresh == sum(file.size for file in live_files(path))
    assert (before.cubes, before.bytes_in_cubes, before.bytes_other_columns) == (0, 0, 0)
    page = table.optimize(zorder_by=["x", "y"])._repr_html_()
    assert "<td>committed</td><td>12</td>" in page
    assert "<td>12 fresh</td>" in page
    points(spark, 9000, 300).write.format("delta").mode("append").save(path)
    with job_counter() as jobs:
        after = table.quality()
    assert not jobs.reading(300), "data was read"
    check(after, [extents(path, "x"), extents(path, "y")])
    assert [column.column for column in after.columns] == ["x", "y"]
    assert after.all.average_depth < before.all.average_depth / 2
    fresh = [file.size for file in live_files(path) if not file.tags]
    assert len(fresh) == 1
    assert (after.cubes, after.bytes_fresh) == (1, fresh[0])
    assert after.bytes_in_cubes == after.bytes - fresh[0]
    others = table.quality(columns=["y", "x"])
    assert (others.cubes, others.bytes_other_columns) == (0, after.bytes_in_cubes)


def test_sql_measures_a_clustered_table_with_a_predicate(spark, name):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, x INT, y INT, s STRING) USING delta CLUSTER BY (x, y)"
    )
    points(spark, 0, 8000, 4).writeTo(name).append()
    ClusteredTable.for_name(spark, name).optimize()
    path = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["location"].removeprefix("file:")
    rows = spark.sql(f"describe clustering default.{name};").collect()
    assert [row["column"] for row in rows] == ["x", "y", "*"]
    assert rows[2]["average_depth"] == pytest.approx(
        overlaps.boxes([extents(path, "x"), extents(path, "y")])["average_depth"]
    )
    assert rows[0]["bytes_in_cubes"] == rows[0]["bytes"]
    part = spark.sql(f"DESC CLUSTERING {name} BY y WHERE x > 1000000000").collect()
    kept = must_read(live_files(path), lambda file: file.maximum["x"] > 1_000_000_000)
    assert [row["column"] for row in part] == ["y", "*"]
    assert {row["files"] for row in part} == {len(kept)}
    assert 0 < len(kept) < len(live_files(path))
    spark.conf.set("spark.zcube.enabled", "false")
    assert spark.sql(f"DESCRIBE CLUSTERING {name}").collect() == rows


def test_truncated_and_non_ascii_strings_are_compared_by_bytes(spark, path):
    long = "x" * 40
    spark.range(0, 2000, 1, 10).selectExpr(
        f"concat('{long}', id % 700) a", "concat(chr(id % 900 + 200), '😀', id) b"
    ).write.format("delta").save(path)
    files = live_files(path)
    assert any(file.minimum["a"] == "x" * 32 for file in files)
    quality = ClusteredTable.for_path(spark, path).quality(columns=["a", "b"])
    check(quality, [extents(path, "a", utf8), extents(path, "b", utf8)])


def test_nulls_and_files_without_statistics_are_counted_apart(spark, path):
    rows = spark.range(0, 1000, 1, 5).selectExpr(
        "id",
        "if(id < 400, NULL, id % 300) n",
        "named_struct('c', id % 7, 'd', date_from_unix_date(int(id))) s",
    )
    rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(path)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 9 = 0")
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    rows.where("id < 50").write.format("delta").mode("append").save(path)
    quality = ClusteredTable.for_path(spark, path).quality(columns=["n", "s.d", "s.c"])
    found = [extents(path, "n"), extents(path, "s.d"), extents(path, "s.c")]
    assert found[0].count(NULLS) == 2
    assert found[0].count(UNKNOWN) == 1
    check(quality, found)
    assert quality["n"].notes == (
        "n: 1 of 6 files have no minimum; n: 2 of 6 files hold only NULLs and overlap nothing"
    )
    assert quality["s.d"].notes == "s.d: 1 of 6 files have no minimum"
    assert quality.all.notes == "3 of 6 files have no minimum and maximum in each column"
    assert "note: n: 1 of 6 files have no minimum" in str(quality)


def test_partial_statistics_of_other_writers_are_measured(spark, path):
    """Random logs, some statistics missing or partial, and no data at all."""
    rng = random.Random(20260321)
    names = [f"c{i}" for i in range(len(KINDS))]
    fields = [
        {"name": n, "type": kind, "nullable": True, "metadata": {}}
        for n, kind in zip(names, KINDS, strict=True)
    ]
    schema = json.dumps({"type": "struct", "fields": fields})
    files, columns = [], [[] for _ in names]
    for _ in range(60):
        stats = {"numRecords": 10, "minValues": {}, "maxValues": {}, "nullCount": {}}
        for i, (name, kind) in enumerate(zip(names, KINDS, strict=True)):
            low = rng.randrange(-100, 20)
            ends = [scalar(kind, low), scalar(kind, low + rng.choice([0, 1, 5, 90]))]
            ends.sort(key=lambda end: end[1])
            extent, what = (ends[0][1], ends[1][1]), rng.random()
            if what < 0.9:
                stats["minValues"][name] = ends[0][0]
                stats["nullCount"][name] = 0
                if what < 0.85:
                    stats["maxValues"][name] = ends[1][0]
                else:
                    extent = UNKNOWN
            elif what < 0.95:
                stats["nullCount"][name] = 10
                extent = NULLS
            else:
                extent = UNKNOWN
            columns[i].append(extent)
        files.append({"stats": stats})
    files[7] = {}
    for column in columns:
        column[7] = UNKNOWN
    written_log.write(path, schema, files)
    table = ClusteredTable.for_path(spark, path)
    check(table.quality(columns=names), columns)
    for pair in ([0, 1], [4, 6], [5, 8], [3, 7]):
        check(table.quality(columns=[names[i] for i in pair]), [columns[i] for i in pair])


def test_a_table_that_delta_rs_wrote_is_measured(spark, path):
    rng = random.Random(7)
    for batch in range(8):
        start = rng.randrange(300)
        values = [start + rng.randrange(60) for _ in range(50)]
        write_deltalake(
            path,
            pyarrow.table(
                {
                    "n": values,
                    "f": [value / 7 for value in values],
                    "t": [f"{'long ' * 9}{value:03}" for value in values],
                    "d": [date(2026, 1, 1) + timedelta(days=value) for value in values],
                    "empty": pyarrow.nulls(50, pyarrow.int64()) if batch < 5 else values,
                    "s": [{"leaf": -value} for value in values],
                }
            ),
            mode="append",
        )
    quality = ClusteredTable.for_path(spark, path).quality(
        columns=["n", "f", "t", "d", "empty", "s.leaf"]
    )
    found = [
        extents(path, "n"),
        extents(path, "f"),
        extents(path, "t", utf8),
        extents(path, "d"),
        extents(path, "empty"),
        extents(path, "s.leaf"),
    ]
    assert found[4].count(NULLS) == 5
    check(quality, found)
    assert 1 < quality["n"].average_depth < 8


def test_without_statistics_or_files_there_are_no_figures(spark, path, tmp_path):
    spark.range(0, 40, 1, 4).selectExpr("id", "id > 5 b").write.format("delta").save(path)
    quality = ClusteredTable.for_path(spark, path).quality(columns=["b", "id"])
    assert quality["b"].files_with_stats == 0
    assert quality["b"].average_depth is None
    assert quality["b"].notes == "b: 4 of 4 files have no minimum"
    assert quality.violations(max_depth=9, min_skipping=0.0) == [
        "maximum depth of all columns (*) is –, over 9",
        "skipping effectiveness of all columns (*) is –, under 0.0",
    ]
    empty = str(tmp_path / "empty")
    spark.sql(f"CREATE TABLE delta.`{empty}` (x INT) USING delta")
    nothing = ClusteredTable.for_path(spark, empty).quality(columns=["x"])
    assert (nothing.all.files, nothing.all.average_depth, nothing.bytes) == (0, None, 0)
    assert nothing.violations(max_depth=1, min_skipping=1.0) == []
    # A bound that nothing breaks must not pass for one that holds.
    assert nothing.violations(max_depth=Decimal(4), min_skipping=Decimal("0.5")) == []
    for wrong in ("4", True, math.nan, Decimal("NaN"), -1):
        with pytest.raises(ZCubeError, match="max_depth must be a number of at least 0, not"):
            nothing.violations(max_depth=wrong)
    for wrong in (90, math.nan, "0.9"):
        with pytest.raises(ZCubeError, match="min_skipping must be a share from 0 to 1, not"):
            nothing.violations(min_skipping=wrong)
    for wrong in (1, None):
        with pytest.raises(KeyError, match="There are no figures for"):
            nothing[wrong]


def test_a_version_in_a_path_without_columns_says_to_name_some(spark, path):
    spark.range(9).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, f"{path}@v0")
    with pytest.raises(AnalysisException, match="ZCUBE_NO_CLUSTERING_COLUMNS"):
        unclustered.quality_by_any(log_of(table), None)
    assert unclustered.quality_by_any(log_of(table), ["id"])[0].all.files > 0


def test_partition_columns_have_figures_and_select_files(spark, path):
    # The second day has one file fewer than the others, so that its figures differ.
    number = "if(id < 1000 AND id % 3 = 1, 0, int(id % 3))"
    points(spark, 0, 2000, 3).selectExpr(
        "*", f"date_add(date'2026-01-01', {number}) day"
    ).write.format("delta").partitionBy("day").save(path)
    table = ClusteredTable.for_path(spark, path)
    some = table.quality(columns=["x"], where="day = '2026-01-02'")
    day = [file for file in live_files(path) if file.partition["day"] == "2026-01-02"]
    assert len(day) == 2
    check(some, [[(file.minimum["x"], file.maximum["x"]) for file in day]])
    assert some.bytes == sum(file.size for file in day)
    both = table.quality(columns=["day", "x"])
    days = [(file.partition["day"], file.partition["day"]) for file in live_files(path)]
    check(both, [days, extents(path, "x")])
    with pytest.raises(AnalysisException, match="DELTA_NON_PARTITION_COLUMN_REFERENCE"):
        table.quality(columns=["x"], where="y = 1")


def test_column_mapping_keeps_cubes_of_a_renamed_column(spark, name):
    spark.sql(
        f"CREATE TABLE {name} (x INT, y INT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    points(spark, 0, 500).select("x", "y").writeTo(name).append()
    table = ClusteredTable.for_name(spark, name)
    table.optimize(zorder_by=["x", "y"])
    before = table.quality()
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN y TO `z.z`")
    quality = table.quality()
    assert [column.column for column in quality.columns] == ["x", "`z.z`"]
    assert (quality.cubes, quality.all.files_with_stats) == (1, 1)
    assert quality.bytes_in_cubes == quality.bytes == before.bytes_in_cubes > 0


def test_unknown_and_unordered_columns_and_what_is_no_table_are_rejected(spark, path):
    spark.range(10).selectExpr("id x", "map(id, id) m").write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    for arguments, condition in [
        ({}, "ZCUBE_NO_CLUSTERING_COLUMNS"),
        ({"columns": ["nope"]}, "ZCUBE_COLUMN_NOT_FOUND"),
        ({"columns": ["m"]}, "ZCUBE_UNORDERED_TYPE"),
    ]:
        with pytest.raises(AnalysisException) as rejection:
            table.quality(**arguments)
        assert rejection.value.getCondition() == condition
    for arguments in ({"columns": []}, {"columns": ["x", "X"]}, {"columns": ["x"], "where": " "}):
        with pytest.raises(ZCubeError):
            table.quality(**arguments)
    with pytest.raises(AnalysisException, match=r"not a Delta table|DELTA_MISSING_DELTA_TABLE"):
        ClusteredTable.for_path(spark, path + "-nowhere").quality(columns=["x"])


def scanned(df):
    """The number of files that a query's only scan read, from the scan's metric."""
    df.collect()
    scan = df._jdf.queryExecution().executedPlan().collectLeaves().apply(0)
    return scan.metrics().apply("numFiles").value()


def test_files_read_are_those_of_the_scan(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 8000, 4).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", "y"])
    quality = table.quality()
    files = live_files(path)
    rows = spark.read.format("delta").load(path)
    for predicate, may_match in [
        ("x BETWEEN 0 AND 100000000", between("x", 0, 100_000_000)),
        ("y = 7", equal_to("y", 7)),
        ("y BETWEEN 0 AND 99 AND x BETWEEN 0 AND 9999999",
         all_of(between("y", 0, 99), between("x", 0, 9_999_999))),
    ]:  # fmt: skip
        read = quality.files_read(predicate)
        expected = {file.path for file in must_read(files, may_match)}
        assert {file.rsplit("/", 1)[-1] for file in read} == expected
        assert scanned(rows.where(predicate)) == len(read) < len(files)
        found = rows.where(predicate).select("_metadata.file_path").distinct().collect()
        assert {row[0].rsplit("/", 1)[-1] for row in found} <= expected
    assert quality.files_read("false") == []
    with pytest.raises(ZCubeError, match="predicate is empty"):
        quality.files_read(" ")


@pytest.mark.parametrize("by", ["name", "path"])
def test_files_read_of_a_cached_table_are_those_of_an_uncached_one(spark, path, name, by):
    # A column may have the name of the metadata.
    rows = spark.range(0, 8000, 1, 4).selectExpr("id", "id _metadata")
    if by == "name":
        rows.write.format("delta").saveAsTable(name)
        table, cached = ClusteredTable.for_name(spark, name), spark.table(name)
    else:
        rows.write.format("delta").save(path)
        table = ClusteredTable.for_path(spark, path)
        cached = spark.read.format("delta").load(path)
    read = table.files_read("id < 10")
    cached.cache().count()
    try:
        assert cached.where("id < 10").inputFiles() == []
        assert table.files_read("id < 10") == read
        assert len(read) == 1
        with pytest.raises(AnalysisException, match="nope"):
            table.files_read("nope = 1")
    finally:
        cached.unpersist()


def test_files_read_of_a_view_are_those_of_its_table(spark, path, name):
    spark.range(0, 8000, 1, 4).write.format("delta").save(path)
    spark.sql(f"CREATE TEMPORARY VIEW {name}_v AS SELECT id x FROM delta.`{path}`")
    read = ClusteredTable.for_path(spark, path).files_read("id < 10")
    assert ClusteredTable.for_name(spark, f"{name}_v").files_read("x < 10") == read


@pytest.mark.parametrize("cached", ["table", "view"])
def test_files_read_of_a_view_over_a_cache_are_those_of_an_uncached_one(spark, path, name, cached):
    """Of a union, a part may be cached."""
    spark.range(0, 8000, 1, 4).write.format("delta").save(path)
    spark.range(8000, 9000, 1, 1).write.format("delta").save(f"{path}-more")
    spark.sql(
        f"CREATE TEMPORARY VIEW {name}_v AS SELECT id x FROM delta.`{path}` WHERE id >= 0 "
        f"UNION ALL SELECT id FROM delta.`{path}-more`"
    )
    view = ClusteredTable.for_name(spark, f"{name}_v")
    read = {p: view.files_read(p) for p in ("x < 10", "x < 3000 OR x > 8500", "true")}
    rows = (
        spark.sql(f"SELECT * FROM delta.`{path}`")
        if cached == "table"
        else spark.table(f"{name}_v")
    )
    rows.cache().count()
    try:
        assert {p: view.files_read(p) for p in read} == read
        assert [len(files) for files in read.values()] == [1, 3, 5]
    finally:
        rows.unpersist()


def test_figures_are_the_same_as_text_html_and_plain_values(spark, path):
    points(spark, 0, 100, 2).write.format("delta").save(path)
    quality = ClusteredTable.for_path(spark, path).quality(columns=["x", "y"])
    lines = str(quality).splitlines()
    assert lines[0].split()[:2] == ["column", "files"]
    assert [line.split()[0] for line in lines[1:4]] == ["x", "y", "*"]
    assert lines[4].endswith("fresh")
    page = quality._repr_html_()
    assert page.count("<tr>") == 4
    values = quality.to_dict()
    assert json.loads(json.dumps(values))["all"]["files"] == 2
    assert values["columns"][0]["depth_histogram"] == {2: 2}
    with pytest.raises(KeyError, match="no figures for 'z', only for x, y"):
        quality["z"]
    for name in ("X", "`x`", "`X`"):
        assert quality[name] is quality.columns[0]
    copied = pickle.loads(pickle.dumps(quality))
    assert copied == quality
    with pytest.raises(ZCubeError, match="no session to ask which files 'x = 1' reads"):
        copied.files_read("x = 1")


def test_figures_are_found_by_the_names_that_quality_takes(path):
    names = ["x", "`a.b`", "s.leaf", "s.`c d`", "`*`"]
    kinds = {"type": "long", "nullable": True, "metadata": {}}
    leaves = [{"name": name, **kinds} for name in ("Leaf", "c d")]
    fields = [{"name": name, **kinds} for name in ("x", "a.b", "*")]
    fields.append({**kinds, "name": "s", "type": {"type": "struct", "fields": leaves}})
    written_log.write(path, json.dumps({"type": "struct", "fields": fields}), [{}])
    log = DeltaLakeLog.open(path)
    quality = log.quality(columns=names)
    assert [column.column for column in quality.columns] == [
        "x",
        "`a.b`",
        "s.Leaf",
        "s.`c d`",
        "`*`",
    ]
    for name in (*names, "`X`", "`A.B`", "`s`.`LEAF`", "s.c d", "S.`C D`"):
        assert quality[name].column == log.quality(columns=[name]).columns[0].column
    assert quality["*"] is quality.all
    # ``a.b`` would be a field of ``a``.
    for name in ("a.b", "`s.leaf`", "", "x."):
        with pytest.raises(KeyError, match="There are no figures for"):
            quality[name]


def test_the_row_of_all_columns_is_found_by_its_name(spark, path):
    points(spark, 0, 100, 2).selectExpr("x", "y `*`").write.format("delta").save(path)
    rows = spark.sql(f"DESCRIBE CLUSTERING '{path}' BY (x, `*`)").collect()
    assert [row["column"] for row in rows] == ["x", "`*`", "*"]
    quality = ClusteringQuality.from_rows(rows, list)
    assert quality.all.column == "*"
    assert [column.column for column in quality.columns] == ["x", "`*`"]
    assert ClusteringQuality.from_rows([rows[2], *rows[:2]], list) == quality


def test_describe_clustering_has_the_documented_columns(spark, path):
    spark.range(3).write.format("delta").save(path)
    schema = spark.sql(f"DESCRIBE CLUSTERING '{path}' BY id").schema
    assert schema["depth_histogram"].dataType == t.MapType(t.IntegerType(), t.LongType(), False)
    assert schema.names == [
        "column",
        *FIGURES,
        "cubes",
        "bytes",
        "bytes_in_cubes",
        "bytes_fresh",
        "bytes_other_columns",
        "notes",
    ]
