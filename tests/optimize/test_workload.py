"""The workload of OPTIMIZE: kdtree cuts files where the predicates of queries skip most."""

import glob
import json
import shutil

import pyarrow.parquet as pq
import pytest
import zcube
from pyspark.errors import AnalysisException, PySparkException
from zcube import ClusteredTable, WorkloadResult, ZCubeError, cli
from zcube._sql.workload import read_workload, workload_option

from tests.support import checksum, skipping
from tests.support.log_replay import last_version, live_files
from tests.support.templates import written_once

ROWS = 24_000

# A hot part of x, a single column, a pair of values, a list, a prefix, NULLs.
SKEWED = [
    ("x BETWEEN 100 AND 130 AND y < 200", 4.0),
    ("x = 117", 2.0),
    ("x IN (105, 125) AND y > 900", 2.0),
    ("s LIKE 'k07%'", 1.0),
    ("z IS NULL AND x < 50", 1.0),
]


@written_once
def write(spark, path, rows=ROWS):
    spark.range(0, rows, 1, 3).selectExpr(
        "id",
        "abs(hash(id)) % 1000 x",
        "abs(hash(id, 1)) % 1000 y",
        "concat('k', lpad(abs(hash(id, 2)) % 100, 2, '0')) s",
        "if(id % 20 = 0, NULL, cast(id % 7 AS INT)) z",
    ).write.format("delta").save(path)


@pytest.fixture(scope="module")
def small(spark, tmp_path_factory):
    """A table that tests must not change."""
    path = str(tmp_path_factory.mktemp("small") / "table")
    write(spark, path, rows=10)
    return path


def target(path, files):
    return int(sum(file.size for file in live_files(path)) / 1.05 / (files - 0.5))


def optimize(spark, path, files, **how):
    before = checksum.multiset(spark.read.format("delta").load(path))
    done = ClusteredTable.for_path(spark, path).optimize(
        zorder_by=["x", "y", "s", "z"], curve="kdtree", max_file_size=target(path, files), **how
    )
    assert checksum.multiset(spark.read.format("delta").load(path)) == before
    return done


def scanned(spark, path, predicate):
    """What Spark's own scan reads: files, and their bytes according to the log."""
    names = skipping.files_scanned(spark.read.format("delta").load(path).where(predicate))
    sizes = {file.path.rsplit("/", 1)[-1]: file.size for file in live_files(path)}
    return len(names), sum(sizes[name] for name in names)


@pytest.mark.long
def test_a_skewed_workload_reads_fewer_files_than_with_the_usual_tree(spark, path):
    write(spark, path)
    copy = path + "-copy"
    shutil.copytree(path, copy)
    before = [scanned(spark, path, predicate) for predicate, _ in SKEWED]
    optimize(spark, copy, 30)
    done = optimize(spark, path, 30, workload=SKEWED)
    usual = [scanned(spark, copy, predicate) for predicate, _ in SKEWED]
    ours = [scanned(spark, path, predicate) for predicate, _ in SKEWED]
    files = live_files(path)
    assert len(files) == len(live_files(copy)) == 30
    assert all(0.8 * ROWS / 30 < f.rows < 1.25 * ROWS / 30 for f in files)

    def read(counts):
        return sum(weight * count[0] for count, (_, weight) in zip(counts, SKEWED, strict=True))

    assert read(ours) < 0.6 * read(usual)
    # The result says what the scan does.
    reported = [
        (q.files_before, q.bytes_before, q.files_after, q.bytes_after) for q in done.workload
    ]
    assert reported == [was + now for was, now in zip(before, ours, strict=True)]
    assert [(q.predicate, q.weight) for q in done.workload] == SKEWED
    assert all(q.note == "" for q in done.workload)
    assert SKEWED[0][0] in str(done)
    assert "<td>x = 117</td>" in done._repr_html_()


def test_the_same_workload_rewrites_nothing_and_another_one_does(spark, path):
    write(spark, path, rows=8000)
    first = optimize(spark, path, 8, workload=SKEWED)
    version = last_version(path)
    (tag,) = {f.tags["ZCUBE_WORKLOAD"] for f in live_files(path)}
    assert len(tag) == 16
    # In another order, written differently, with the same ratios of weights.
    same = {f" {text.lower() if 'k07' not in text else text} ": w * 3 for text, w in SKEWED[::-1]}
    again = optimize(spark, path, 8, workload=same)
    assert (last_version(path), again.files_removed) == (version, 0)
    assert sorted(q.files_after for q in again.workload) == sorted(
        q.files_after for q in first.workload
    )
    assert [q.files_before for q in again.workload] == [q.files_after for q in again.workload]
    for other in ([SKEWED[0][0], *SKEWED[1:]], None):
        assert optimize(spark, path, 8, workload=other).files_removed == 8
    assert all("ZCUBE_WORKLOAD" not in f.tags for f in live_files(path))


def test_a_workload_may_name_nested_columns_and_its_result_reports_what_was_ignored(spark, name):
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, p STRUCT<x: INT>, d DATE) USING delta CLUSTER BY (p.x, d)"
    )
    spark.range(0, 20_000, 1, 2).selectExpr(
        "id",
        "named_struct('x', cast(abs(hash(id)) % 500 AS INT)) p",
        "date'2026-01-01' + cast(abs(hash(id, 1)) % 300 AS INT) d",
    ).write.format("delta").mode("append").saveAsTable(name)
    table = ClusteredTable.for_name(spark, name)
    done = table.optimize(
        curve="kdtree",
        max_file_size=8_000,
        workload=[
            "d >= '2026-10-01' AND p.x < 50L",
            "id = 3",
            "p.x = 7 AND month(d) = 3",
        ],
    )
    hot, other, half = done.workload
    assert hot.files_after < 0.25 * done.files_added
    assert (hot.note, half.note) == ("", "unsupported: (month(d) = 3)")
    assert other.note == "doesn't use the clustering columns"
    for query in done.workload:
        assert query.files_after == len(table.files_read(query.predicate))
    # Without the workload, that is another layout.
    again = table.optimize(curve="kdtree", full=True, dry_run=True)
    assert sum(len(cube.files) for cube in again.cubes) == done.files_added
    assert not again.stay


def test_a_query_for_a_flag_skips_files_of_nulls(spark, path):
    """Delta has no minima of booleans, but counts their NULLs."""
    flag = "if(abs(hash(id)) % 4 = 0, id % 40 < 20, null) flag"
    rows = spark.range(0, 20_000, 1, 2).selectExpr("id", "abs(hash(id, 1)) % 500 x", flag)
    rows.write.format("delta").save(path)
    size = sum(file.size for file in live_files(path))
    table = ClusteredTable.for_path(spark, path)
    done = table.optimize(zorder_by=["x", "flag"], max_file_size=size // 8, workload=["flag"])
    (query,) = done.workload
    assert done.files_added >= 8
    assert query.files_after <= 2
    assert query.note == ""
    assert query.files_after == len(table.files_read("flag"))


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("'curve' = 'kdtree', 'workload' = 'x = 1'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'workload' = '[]'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'workload' = '[\"\"]'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'workload' = '[7]'", "ZCUBE_INVALID_OPTION"),
        (
            "'curve' = 'kdtree', 'workload' = '[{\"predicate\": \"x = 1\", \"weight\": 0}]'",
            "ZCUBE_INVALID_OPTION",
        ),
        (
            "'curve' = 'kdtree', 'workload' = '[{\"predicate\": \"x = 1\", \"wieght\": 2}]'",
            "ZCUBE_INVALID_OPTION",
        ),
        (
            "'curve' = 'kdtree', 'workload' = '[\"x IN (SELECT 1)\"]'",
            "ZCUBE_INVALID_OPTION",
        ),
        ("'curve' = 'hilbert', 'workload' = '[\"x = 1\"]'", "ZCUBE_WORKLOAD_NOT_TAKEN"),
        ("'curve' = 'zorder', 'workload' = '[\"x = 1\"]'", "ZCUBE_WORKLOAD_NOT_TAKEN"),
        ("'workload' = '[\"id = 1\"]'", "ZCUBE_WORKLOAD_WITHOUT_RANGES"),
        ("'curve' = 'kdtree', 'workload' = '[\"id = 1\"]'", "ZCUBE_WORKLOAD_WITHOUT_RANGES"),
        ("'curve' = 'kdtree', 'workload' = '[\"x % 2 = 1\"]'", "ZCUBE_WORKLOAD_WITHOUT_RANGES"),
        ("'curve' = 'kdtree', 'workload' = '[\"nope = 1\"]'", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("'curve' = 'kdtree', 'workload' = '[\"x = \"]'", "ZCUBE_INVALID_PREDICATE"),
        ("'curve' = 'kdtree', 'workload' = '[\"x = 1 y\"]'", "ZCUBE_INVALID_PREDICATE"),
        ("'curve' = 'kdtree', 'workload' = '[\"x\"]'", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"),
    ],
)
def test_wrong_workloads_are_rejected_in_sql(spark, small, options, condition):
    with pytest.raises(PySparkException) as error:
        spark.sql(f"OPTIMIZE delta.`{small}` ZORDER BY (x, y) OPTIONS ({options})").collect()
    assert error.value.getCondition() == condition
    assert last_version(small) == 0


@pytest.mark.parametrize(
    ("workload", "curve", "message"),
    [
        ([], "kdtree", "no predicates"),
        ("x = 1", "kdtree", "must be a list"),
        ([" "], "kdtree", "is empty"),
        ([("x = 1", 0)], "kdtree", "must be a number greater than 0"),
        ([("x = 1", float("nan"))], "kdtree", "must be a number greater than 0"),
        ([("x = 1", 1, 2)], "kdtree", "pairs"),
        ([7], "kdtree", "pairs"),
        (["x = 1"], "zorder", "zorder takes no workload"),
    ],
)
def test_wrong_workloads_are_rejected_in_python(workload, curve, message):
    with pytest.raises(ZCubeError, match=message):
        workload_option(workload, curve)


def test_a_workload_of_a_dataframe_moves_the_cuts(spark, path):
    rows = spark.range(0, 20_000, 1, 2).selectExpr(
        "id", "hash(id) % 1000 x", "hash(id, 1) % 1000 y"
    )
    # A condition may name columns that rows aren't clustered by.
    hot = ["x BETWEEN 200 AND 260 AND y > 900 AND id >= 0", ("x = 227", 2)]

    def read(workload):
        clustered = zcube.cluster(
            rows, "x", "y", curve="kdtree", workload=workload, num_partitions=20
        )
        clustered.write.mode("overwrite").parquet(path)
        assert checksum.multiset(spark.read.parquet(path)) == checksum.multiset(rows)
        files = [pq.ParquetFile(file).metadata for file in glob.glob(f"{path}/*.parquet")]
        assert len(files) == 20

        def extent(file, column):
            groups = [
                file.row_group(g).column(column).statistics for g in range(file.num_row_groups)
            ]
            return min(g.min for g in groups), max(g.max for g in groups)

        extents = [(extent(file, 1), extent(file, 2)) for file in files]
        first = sum(x[0] <= 260 and x[1] >= 200 and y[1] > 900 for x, y in extents)
        return first + 2 * sum(x[0] <= 227 <= x[1] for x, _ in extents)

    assert read(hot) < 0.7 * read(None)
    for workload, condition in (
        (["id = 3"], "ZCUBE_WORKLOAD_WITHOUT_RANGES"),
        (["x"], "ZCUBE_INVALID_OPTION"),
        (["nope = 3"], "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ):
        with pytest.raises(AnalysisException) as error:
            zcube.cluster(
                rows, "x", "y", curve="kdtree", workload=workload, num_partitions=4
            ).collect()
        assert error.value.getCondition() == condition
    with pytest.raises(ZCubeError, match="hilbert takes no workload"):
        zcube.cluster(rows, "x", workload=["x = 1"])


def test_predicates_are_read_from_files(tmp_path):
    file = tmp_path / "workload.sql"
    file.write_text("-- of the dashboard\n\n3 | x = 1;\n y > 2 ;\na | b = 3\n0.5|s LIKE 'a|b%'\n")
    assert read_workload(str(file)) == [
        ("x = 1", 3.0),
        ("y > 2", 1.0),
        ("a | b = 3", 1.0),
        ("s LIKE 'a|b%'", 0.5),
    ]
    # As Notepad writes it.
    file.write_bytes(b"\xef\xbb\xbf3 | x = 1\r\ny = 2\r\n")
    assert read_workload(str(file)) == [("x = 1", 3.0), ("y = 2", 1.0)]
    file.write_text("-- nothing\n")
    with pytest.raises(ZCubeError, match="has no predicates"):
        read_workload(str(file))
    file.write_text("-- weight: as of last week\n-- weight: 2 of 3\nx = 1\n")
    assert read_workload(str(file)) == [("x = 1", 1.0)]
    # As in a file of queries, where a comment sets the weight of what follows.
    file.write_text("-- weight: 3\nx = 1\n")
    with pytest.raises(ZCubeError, match=r"has '-- weight: 3'\. Write it as 'weight \| predicate'"):
        read_workload(str(file))
    with pytest.raises(ZCubeError, match="can't be read"):
        read_workload(str(tmp_path / "nowhere.sql"))


def test_the_command_takes_predicates_and_weights(spark, path, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(spark, "stop", lambda: None)
    monkeypatch.setattr("zcube.session.configure", lambda builder: builder)
    write(spark, path, rows=5000)
    file = tmp_path / "workload.sql"
    file.write_text("2 | x < 100\ny = 5\n")
    command = ["optimize", path, "--zorder-by", "x,y", "--workload", str(file)]
    assert cli.main([*command, "--curve", "hilbert"]) == 1
    assert "hilbert takes no workload" in capsys.readouterr().err
    command += ["--curve", "kdtree", "--max-file-size", str(target(path, 10)), "--json"]
    assert cli.main(command) == 0
    reported = json.loads(capsys.readouterr().out.strip().splitlines()[-1])["workload"]
    assert [(q["predicate"], q["weight"]) for q in reported] == [("x < 100", 2.0), ("y = 5", 1.0)]
    assert reported[0] == WorkloadResult(**reported[0]).__dict__
    assert reported[0]["files_before"] == 3
    assert reported[0]["files_after"] <= 2
