"""Unordered types, contradictory sizes, and Delta's own setting for sorting."""

import shutil

import numpy as np
import pyarrow.parquet
import pytest
from pyspark.errors import AnalysisException, PySparkException
from zcube import CURVES, ZCubeError
from zcube._sql.arguments import column_weights, flag, positive
from zcube._sql.workload import workload_items

from tests.support.log_replay import last_version, live_files

CUBE = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"
UNORDERED = {
    "m": "MAP<STRING, INT>",
    "n.m": "MAP<STRING, INT>",
    "n": "STRUCT<m: MAP<STRING, INT>>",
    "a": "ARRAY<MAP<STRING, INT>>",
    "v": "VARIANT",
}


@pytest.fixture(scope="module")
def unordered(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("unordered") / "table")
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id INT, m MAP<STRING, INT>, n STRUCT<m: MAP<STRING, INT>>, "
        "a ARRAY<MAP<STRING, INT>>, v VARIANT) USING delta"
    )
    spark.sql(
        f"INSERT INTO delta.`{path}` SELECT id, map('k', id), named_struct('m', map('k', id)), "
        "array(map('k', id)), parse_json(string(id)) FROM range(0, 400, 1, 2)"
    )
    return path


@pytest.mark.parametrize("files", [1, 8])
@pytest.mark.parametrize("column", UNORDERED)
def test_what_has_no_order_is_rejected_by_its_type(spark, unordered, column, files):
    spark.conf.set("spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled", "false")
    if files > 1:
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", "1000")
    for clause in (f"ZORDER BY ({column})", f"ZORDER BY (id, {column}) DRY RUN"):
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{unordered}` {clause}")
        assert error.value.getCondition() == "ZCUBE_UNORDERED_TYPE"
        parameters = error.value.getMessageParameters()
        assert parameters["column"] == column
        assert parameters["dataType"].split("<")[0] == UNORDERED[column].split("<")[0]
    assert last_version(unordered) == 1


def test_a_target_of_no_bytes_is_rejected_by_the_name_of_its_setting(spark, unordered):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", "0")
    for clause in ("", " DRY RUN"):
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{unordered}` ZORDER BY (id){clause}")
        assert error.value.getCondition() == "ZCUBE_INVALID_OPTION"
        assert "spark.databricks.delta.optimize.maxFileSize" in str(error.value)
    assert last_version(unordered) == 1


def test_delta_rejects_clustering_by_what_has_no_order(spark, path):
    for column, data_type in UNORDERED.items():
        if "." not in column:
            with pytest.raises(PySparkException) as error:
                spark.sql(
                    f"CREATE TABLE delta.`{path}` ({column} {data_type}) USING delta "
                    f"CLUSTER BY ({column})"
                )
            assert error.value.getCondition() == "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"


# Options of the statement, settings, and whether they are rejected. The defaults are 100 and 150
# GB.
SIZES = [
    ({"minCubeSize": "2000", "targetCubeSize": "1000"}, {}, True),
    ({"targetCubeSize": "1000"}, {}, True),
    ({"targetCubeSize": "1000"}, {"threshold": "2000"}, True),
    ({"targetCubeSize": "2000"}, {"threshold": "2000"}, False),
    ({"minCubeSize": "200g", "targetCubeSize": "150g"}, {}, True),
    # A target in the settings is only a default, so it is adjusted, as in Delta.
    ({"minCubeSize": "200g"}, {}, False),
    ({}, {"threshold": "2000", "targetCubeSize": "1000"}, False),
]


@pytest.fixture(scope="module", params=["", "CLUSTER BY (x)"])
def sized(request, spark, tmp_path_factory):
    """A table, and what its OPTIMIZE must say."""
    path = str(tmp_path_factory.mktemp("sized") / "table")
    spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, x INT) USING delta {request.param}")
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id, hash(id) FROM range(0, 100, 1, 2)")
    return path, "" if request.param else "ZORDER BY (x)"


@pytest.mark.parametrize(("options", "settings", "rejected"), SIZES)
def test_a_target_below_the_minimum_size_is_rejected(
    spark, sized, path, options, settings, rejected
):
    template, order = sized
    for key, value in settings.items():
        spark.conf.set(f"{CUBE}.{key}", value)
    texts = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    clause = order + (f" OPTIONS ({texts})" if texts else "")
    if rejected:
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{template}` {clause}")
        assert error.value.getCondition() == "ZCUBE_INVALID_OPTION"
        assert error.value.getMessageParameters()["option"] == "targetCubeSize"
        assert "minCubeSize" in str(error.value)
        assert last_version(template) == 1
    else:
        shutil.copytree(template, path)
        spark.sql(f"OPTIMIZE delta.`{path}` {clause}")
        assert last_version(path) > 1


ZCUBES = "spark.zcube.layout.sortWithinFiles"
DELTAS = "spark.databricks.io.skipping.mdc.sortWithinFiles"
SORTING = [
    ({}, True),
    ({DELTAS: "false"}, False),
    ({DELTAS: "true"}, True),
    ({ZCUBES: "false"}, False),
    ({ZCUBES: "true", DELTAS: "false"}, True),
    ({ZCUBES: "false", DELTAS: "true"}, False),
]


@pytest.fixture(scope="module")
def unsorted(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("unsorted") / "table")
    spark.range(0, 2000, 1, 2).selectExpr("id", "hash(id) & 15 x").write.format("delta").save(path)
    return path


@pytest.mark.parametrize(("settings", "is_sorted"), SORTING)
def test_deltas_setting_for_sorting_counts_where_zcubes_is_not_set(
    spark, unsorted, path, settings, is_sorted
):
    shutil.copytree(unsorted, path)
    for key, value in settings.items():
        spark.conf.set(key, value)
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x)")
    (file,) = live_files(path)
    x = pyarrow.parquet.ParquetFile(f"{path}/{file.path}").read()["x"].to_pylist()
    assert len(x) == 2000
    assert (x == sorted(x)) == is_sorted


def test_python_and_sql_know_the_same_curves_and_what_they_take(spark, path):
    spark.range(10).selectExpr("id x", "id y").write.format("delta").save(path)

    def rejection(options):
        try:
            spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ({options}) DRY RUN")
        except AnalysisException as error:
            return error.getCondition(), str(error)
        return None, ""

    for curve in CURVES:
        in_sql = [
            rejection(f"'curve' = '{curve}', {option}")[0]
            for option in ("'weights' = 'x=2'", "'workload' = '[\"x = 1\"]'")
        ]
        in_python = []
        for check in (
            lambda name: column_weights({"x": 2}, name),
            lambda name: workload_items(["x = 1"], name),
        ):
            try:
                check(curve)
                in_python.append(None)
            except ZCubeError as error:
                in_python.append(str(error))
        assert [name is None for name in in_sql] == [text is None for text in in_python], curve
        assert set(in_sql) <= {None, "ZCUBE_WEIGHTS_NOT_TAKEN", "ZCUBE_WORKLOAD_NOT_TAKEN"}


def test_a_flag_may_be_of_numpy():
    for value in (np.bool_(True), np.bool_(False), True, False):
        assert flag(value, "full") is bool(value)
    for value in (np.int64(1), np.array(True), 1, None, "false"):
        with pytest.raises(ZCubeError, match="full must be True or False, not "):
            flag(value, "full")


def test_numbers_of_numpy_are_numbers():
    # Python's own, which JSON can write.
    assert type(positive(np.int64(3), "n")) is int
    assert column_weights({"x": np.float32(2.5)}, None) == [(["x"], 2.5)]
    for value in (np.bool_(True), np.float64(3), np.int64(0), True, "3"):
        with pytest.raises(ZCubeError, match="positive int"):
            positive(value, "n")
    for weight in (np.bool_(True), np.float32("nan"), 10**400, "2", 0):
        with pytest.raises(ZCubeError, match="greater than 0"):
            column_weights({"x": weight}, None)
