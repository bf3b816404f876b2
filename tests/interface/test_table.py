"""ClusteredTable from the user's side: names, paths, results, rejections, conflicts."""

import json
import os
import re
import threading
from functools import partial
from pathlib import Path

import pandas
import pytest
import zcube
from pyspark.errors import PySparkException
from pyspark.sql import functions
from zcube import ClusteredTable, ZCubeError, plots, report
from zcube._spark import gateway
from zcube._sql.workload import workload_items

from tests.support.checksum import multiset
from tests.support.log_replay import (
    actions,
    data_files_on_disk,
    files_ever_added,
    last_version,
    live_files,
)
from tests.support.matrix import cases


def write_points(spark, path, rows=3000, files=3):
    df = spark.range(0, rows, 1, files).selectExpr("id AS x", "hash(id) AS y", "id % 2 AS day")
    df.write.format("delta").partitionBy("day").save(path)


def test_result_is_what_the_log_says(spark, path):
    write_points(spark, path)
    before, rows = live_files(path), multiset(spark.read.format("delta").load(path))
    result = ClusteredTable.for_path(spark, path).optimize(zorder_by=["x", "y"], where="day = '1'")
    commit = actions(path, last_version(path))
    added = [action["add"] for action in commit if "add" in action]
    removed = [action["remove"] for action in commit if "remove" in action]
    assert result.files_added == len(added) == 1
    assert result.files_removed == len(removed) == len(before) // 2 == 3
    assert result.bytes_added == sum(add["size"] for add in added)
    assert result.bytes_removed == sum(f.size for f in before if f.partition == {"day": "1"})
    assert result.partitions == 1
    assert Path(result.path.removeprefix("file:")) == Path(path)
    assert json.loads(json.dumps(result.to_dict()))["metrics"]["numFilesAdded"] == 1
    assert re.match(
        rf"{re.escape(result.path)}: 3 files \([^)]+\) rewritten to 1 file \([^)]+\) in 1 partition\n",
        str(result),
    )
    assert multiset(spark.read.format("delta").load(path)) == rows


def test_result_can_not_be_changed(spark, path):
    write_points(spark, path)
    result = ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"])
    with pytest.raises(AttributeError):
        result.files_added = 0


FOLDERS = ["plain", "with space", "it's", 'quo"te', "back`tick", "100%25", "ünï#?", "a;--"]


@pytest.mark.parametrize("folder", cases(FOLDERS, {"100%25", "ünï#?"}))
def test_a_path_may_be_absolute_or_relative_and_have_odd_characters(
    spark, tmp_path, monkeypatch, folder
):
    path = str(tmp_path / folder)
    write_points(spark, path)
    assert ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"]).files_removed == 6
    version = last_version(path)
    # The JVM's working directory is where it was started, whatever Python's is now.
    directory = spark._jvm.java.lang.System.getProperty("user.dir")
    relative = "../" * len(Path(directory).parts[1:]) + path.lstrip("/")
    assert ClusteredTable.for_path(spark, relative).optimize(zorder_by=["y"]).files_removed == 2
    # The two small partitions share a commit.
    assert last_version(path) == version + 1


def test_a_path_may_be_of_pathlib(spark, path):
    write_points(spark, path)
    table = ClusteredTable.for_path(spark, Path(path))
    assert table.location == ClusteredTable.for_path(spark, path).location
    for wrong in (None, 5, b"/data/events"):
        with pytest.raises(ZCubeError, match="path must be a string or a pathlib"):
            ClusteredTable.for_path(spark, wrong)


@pytest.mark.parametrize(
    "column", ["a) ; DROP", "a`b", "a b", "ORDER", "ä", "x'y", '"q"', "-- c", "/*", "日付", "a,b"]
)
def test_any_column_name_is_just_a_column(spark, name, column):
    quoted = "`" + column.replace("`", "``") + "`"
    spark.sql(
        f"CREATE TABLE {name} ({quoted} BIGINT, other BIGINT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {name} SELECT id, -id FROM range(100)")
    result = ClusteredTable.for_name(spark, name).optimize(zorder_by=[column, "other"])
    assert result.files_added == 1
    history = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0]
    # Delta writes the resolved names.
    assert [
        n.strip("`").replace("``", "`") for n in json.loads(history.operationParameters["zOrderBy"])
    ] == [
        column,
        "other",
    ]


def test_dots_are_nested_fields_unless_quoted(spark, name):
    spark.sql(
        f"CREATE TABLE {name} (s STRUCT<leaf: INT>, `s.leaf` INT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {name} SELECT named_struct('leaf', 1), 2")
    table = ClusteredTable.for_name(spark, name)
    assert table.optimize(zorder_by=["s.leaf"]).files_added == 1
    assert table.optimize(zorder_by=["`s.leaf`"]).files_added == 1
    assert table.optimize(zorder_by=["s.leaf", "`s.leaf`"]).files_added == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"zorder_by": []}, "at least one column"),
        # Their order differs from process to process.
        ({"zorder_by": {"x", "y"}}, "zorder_by needs a list of column names, in their order"),
        ({"zorder_by": {"x": 1}}, "zorder_by needs a list of column names, in their order"),
        ({"zorder_by": 5}, "zorder_by needs a list of column names, in their order, not 5"),
        ({"zorder_by": ["x", "X"]}, "twice"),
        ({"zorder_by": ["x", 7]}, "not int"),
        ({"zorder_by": [""]}, "empty part"),
        ({"zorder_by": ["x"], "curve": "peano"}, "linear, zorder, hilbert, kdtree"),
        ({"zorder_by": ["x"], "where": " "}, "where is empty"),
        ({"zorder_by": ["x"], "where": 5}, "where must be SQL text such as 'x > 1', not 5"),
        ({"max_bytes": 1.5}, "max_bytes must be a size such as '10g', or a positive int of bytes"),
        ({"max_duration": 90}, "max_duration must be a string such as '90s', not 90"),
        ({"merge_policy": 3}, "merge_policy must be a string such as 'leveled', not 3"),
        ({"full": "false"}, "full must be True or False, not 'false'"),
        ({"dry_run": "no"}, "dry_run must be True or False, not 'no'"),
        ({"dry_run": True, "forecast": 1}, "forecast must be True or False, not 1"),
        ({"measure": 0}, "measure must be True or False, not 0"),
        ({"progress": "off"}, "progress must be True or False, not 'off'"),
    ],
)
def test_wrong_arguments_are_rejected_before_spark_sees_them(spark, arguments, message):
    # The table doesn't exist, so an argument that isn't rejected fails differently.
    with pytest.raises(ZCubeError, match=message):
        ClusteredTable.for_path(spark, "/no/such/table").optimize(**arguments)


def test_wrong_names_and_queries_are_rejected(spark):
    for wrong in (None, 5, ["t"]):
        with pytest.raises(ZCubeError, match="name of a table must be a string"):
            ClusteredTable.for_name(spark, wrong)
    with pytest.raises(ZCubeError, match="Write a name as 'a'"):
        ClusteredTable.for_name(spark, "schema..t")
    with pytest.raises(ZCubeError, match=r"a\.b\.c\.d has more parts than catalog\.schema\.table"):
        ClusteredTable.for_name(spark, "a.b.c.d")
    # As Python reads bytes of a command line that it can't decode.
    with pytest.raises(ZCubeError, match=r"'/tmp/\\udcff' isn't text in UTF-8\. Set a locale"):
        ClusteredTable.for_path(spark, os.fsdecode(b"/tmp/\xff"))
    table = ClusteredTable.for_path(spark, "/no/such/table")
    for wrong in (None, 5):
        with pytest.raises(ZCubeError, match="recommend needs a list of queries or a dict"):
            table.recommend(wrong)
    with pytest.raises(ZCubeError, match="weight of the query 'x = 1' must be a number"):
        table.recommend(["y = 2", ["x = 1", 0]])
    with pytest.raises(ZCubeError, match="predicate must be SQL text such as 'x > 1', not 5"):
        table.files_read(5)
    with pytest.raises(ZCubeError, match="cluster_by takes column names as strings, not Column"):
        table.cluster_by(functions.col("x"))
    with pytest.raises(ZCubeError, match="takes a DataFrame of Spark, not dict"):
        zcube.cluster({}, "x")
    for wrong in (None, "t"):
        for draw in (partial(plots.boxes, x="a", y="b"), plots.history, report.page):
            with pytest.raises(ZCubeError, match="The table must be a ClusteredTable, not"):
                draw(wrong)
    with pytest.raises(ZCubeError, match=r"draws what quality\(\) returned, not None"):
        plots.depth_histogram(None)


def test_a_workload_may_be_any_iterable(spark):
    items = [{"predicate": "x = 1", "weight": 1.0}, {"predicate": "y = 2", "weight": 3.0}]
    given = ["x = 1", ("y = 2", 3.0)]
    named = pandas.Series(given, index=["columns", "rows"])
    for workload in (given, tuple(given), iter(given), pandas.Series(given), named):
        assert workload_items(workload, "kdtree") == items
    for wrong in (b"x = 1", 5, pandas.DataFrame({"x": [1]}), object(), functions.lit(1)):
        with pytest.raises(ZCubeError, match="workload must be a list of predicates or a dict"):
            workload_items(wrong, "kdtree")


@pytest.mark.parametrize("keyword", ["colums"])
def test_unknown_keywords_are_rejected_by_name(spark, keyword):
    with pytest.raises(TypeError, match=keyword):
        ClusteredTable.for_path(spark, "/t").optimize(zorder_by=["x"], **{keyword: True})


def test_a_session_without_the_extension_is_rejected(spark, path, monkeypatch):
    monkeypatch.setattr(type(spark.catalog), "functionExists", lambda self, name: False)
    with pytest.raises(ZCubeError, match=r"zcube\.configure"):
        ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"])
    with pytest.raises(ZCubeError, match=r"zcube\.configure"):
        zcube.cluster(spark.range(3), "id")


def test_rejections_are_pysparks_typed_exceptions(spark, path):
    write_points(spark, path)
    table = ClusteredTable.for_path(spark, path)
    for arguments, condition in [
        ({"zorder_by": ["day"]}, "DELTA_ZORDERING_ON_PARTITION_COLUMN"),
        ({"zorder_by": ["nope"]}, "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST"),
        ({"zorder_by": ["x"], "where": "x > 3"}, "DELTA_NON_PARTITION_COLUMN_REFERENCE"),
    ]:
        with pytest.raises(PySparkException, match=rf"^\[{condition}\]"):
            table.optimize(**arguments)


def test_what_pyspark_has_no_type_for_becomes_ours(spark):
    # One of the many Java exceptions that PySpark doesn't convert.
    queue = spark._jvm.java.util.ArrayDeque()
    with (
        pytest.raises(
            ZCubeError, match=r"OPTIMIZE t failed in Spark: java\.util\.NoSuch.*"
        ) as error,
        gateway.typed_errors("OPTIMIZE t"),
    ):
        queue.removeFirst()
    assert type(error.value.__cause__).__name__ == "Py4JJavaError"


@pytest.mark.parametrize("attempt", cases(range(2), set()))
def test_a_conflict_is_deltas_own_exception_and_leaves_no_files(spark, path, attempt):
    # One commit for both partitions: a conflict in one affects both.
    spark.conf.set("spark.databricks.delta.optimize.batchSize", str(1 << 40))
    write_points(spark, path, rows=400_000, files=4)
    rows = spark.read.format("delta").load(path).where("day = 0")
    expected = multiset(rows)
    version, known = last_version(path), data_files_on_disk(path)

    def delete_one_partition_meanwhile():
        """As soon as the rewrite has opened a file, commit the removal of half the input."""
        while not data_files_on_disk(path) - known:
            stop.wait(0.002)
            if stop.is_set():
                return
        gone = [
            {"remove": {"path": action["add"]["path"], "deletionTimestamp": 1, "dataChange": True,
                        "partitionValues": {"day": "1"}}}
            for action in actions(path, 0)
            if action.get("add", {}).get("partitionValues") == {"day": "1"}
        ]  # fmt: skip
        target = Path(path) / "_delta_log" / f"{version + 1:020d}.json"
        # Delta only reads a commit that appears atomically.
        partial = target.with_name(".partial")
        partial.write_text("\n".join(json.dumps(action) for action in gone))
        partial.rename(target)

    stop = threading.Event()
    other = threading.Thread(target=delete_one_partition_meanwhile)
    other.start()
    try:
        # By name: importing delta here would hide that ClusteredTable must import it.
        with pytest.raises(PySparkException) as conflict:
            ClusteredTable.for_path(spark, path).optimize(zorder_by=["x", "y"])
        assert type(conflict.value).__name__ == "ConcurrentDeleteReadException"
    finally:
        stop.set()
        other.join()
    assert last_version(path) == version + 1
    assert data_files_on_disk(path) == files_ever_added(path)
    assert multiset(spark.read.format("delta").load(path)) == expected


def test_switched_off_delta_optimizes(spark, path, delta_only):
    spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y").write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    with delta_only():
        result = table.optimize(zorder_by=["x", "y"])
        assert (result.files_removed, result.files_added, result.cubes) == (3, 1, [])
        # An empty text is as wrong there as with ZCube.
        for option in ({"curve": "hilbert"}, {"max_bytes": ""}):
            with pytest.raises(PySparkException, match="ZCUBE_OPTIONS_NOT_SUPPORTED"):
                table.optimize(zorder_by=["x", "y"], **option)
    assert not any("ZCUBE_PHYSICAL_COLUMNS" in file.tags for file in live_files(path))
