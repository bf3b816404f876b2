"""zcube.cluster: any DataFrame, any sink."""

import glob

import pyarrow.parquet as pq
import pytest
import zcube
from pyspark.errors import AnalysisException

from tests.support import checksum


@pytest.fixture(scope="module")
def points(spark):
    return spark.range(0, 60_000, 1, 4).selectExpr(
        "id", "hash(id) & 1023 x", "hash(id, 7) & 1023 y", "named_struct('leaf', id % 97) s"
    )


def files_and_rows(path):
    counts = [pq.ParquetFile(file).metadata.num_rows for file in glob.glob(f"{path}/*.parquet")]
    return len(counts), sum(counts)


def boxes(path):
    found = []
    for file in sorted(glob.glob(f"{path}/*.parquet")):
        metadata = pq.ParquetFile(file).metadata
        columns = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
        group = [
            metadata.row_group(g).column(columns[c]).statistics
            for g in range(metadata.num_row_groups)
            for c in ("x", "y")
        ]
        found.append([(s.min, s.max) for s in group])
    return found


@pytest.mark.long
@pytest.mark.parametrize("curve", ["zorder", "hilbert"])
def test_parquet_row_groups_show_the_layout(spark, points, path, curve):
    zcube.cluster(points, "x", "y", curve=curve, num_partitions=16).write.parquet(path)
    found = boxes(path)
    assert len(found) == 16
    for (x0, x1), (y0, y1) in found:
        # A sixteenth of the square; unclustered files span all of it.
        assert (x1 - x0) * (y1 - y0) < 1024 * 1024 / 16 * 1.2
    assert checksum.multiset(spark.read.parquet(path)) == checksum.multiset(points)


def test_linear_is_a_sort_by_the_first_column(spark, points, path):
    zcube.cluster(points, "x", "y", curve="linear", num_partitions=8).write.parquet(path)
    assert files_and_rows(path) == (8, 60_000)
    ranges = sorted(box[0] for box in boxes(path))
    assert (ranges[0][0], ranges[-1][1]) == (0, 1023)
    assert all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:], strict=False))


def test_rows_are_sorted_inside_partitions(points):
    df = zcube.cluster(points, "x", curve="linear", num_partitions=3)
    partitions = df.select("x").rdd.glom().collect()
    assert len(partitions) == 3
    assert all(len(rows) == pytest.approx(20_000, rel=0.1) for rows in partitions)
    assert sum(len(rows) for rows in partitions) == 60_000
    for rows in partitions:
        assert rows == sorted(rows)


def test_a_nested_column_orders_the_rows(points):
    df = zcube.cluster(points, "s.leaf", num_partitions=4, curve="linear")
    assert df.schema == points.schema
    sizes = df.rdd.glom().map(lambda rows: len({r.s.leaf for r in rows})).collect()
    assert all(size <= 97 / 4 + 2 for size in sizes)


def test_target_file_bytes_decides_the_number(spark, points, path):
    points.write.parquet(path)
    source = spark.read.parquet(path)
    size = source._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    target = int(size) // 5
    assert zcube.cluster(source, "x", target_file_bytes=target).rdd.getNumPartitions() == 5


def test_one_job_samples_all_columns(points, job_counter):
    with job_counter() as ran:
        zcube.cluster(points, "x", "y", num_partitions=4).write.format("noop").mode(
            "overwrite"
        ).save()
    assert sum(d.startswith("ZCube: sampling x, y") for d in ran.descriptions) == 1


def test_a_frequent_value_is_spread(spark, path):
    df = spark.range(40_000).selectExpr("id", "if(id % 10 = 0, id, 5) x")
    zcube.cluster(df, "x", num_partitions=8, curve="linear").write.parquet(path)
    rows = [pq.ParquetFile(f).metadata.num_rows for f in glob.glob(f"{path}/*.parquet")]
    assert len(rows) == 8
    assert max(rows) < 1.25 * 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), {}), "at least one column"),
        ((("x", "X"), {}), "twice"),
        ((("x",), {"curve": "peano"}), "linear, zorder, hilbert, kdtree"),
        ((("x",), {"num_partitions": 0}), "positive"),
        ((("x",), {"num_partitions": 2, "target_file_bytes": 3}), "not both"),
        ((("x",), {"sort": 1}), "True or False"),
        (((1,), {}), "strings"),
    ],
)
def test_wrong_arguments_are_rejected(points, arguments, message):
    positional, named = arguments
    with pytest.raises(zcube.ZCubeError, match=message):
        zcube.cluster(points, *positional, **named)


def test_unknown_columns_unordered_types_and_streams_are_rejected(spark, points):
    with pytest.raises(AnalysisException) as error:
        zcube.cluster(points, "nope")
    assert error.value.getCondition().startswith("UNRESOLVED_COLUMN")
    with pytest.raises(AnalysisException) as error:
        zcube.cluster(points.selectExpr("map(id, id) m"), "m")
    assert error.value.getCondition() == "ZCUBE_UNORDERED_TYPE"
    with pytest.raises(AnalysisException) as error:
        zcube.cluster(spark.readStream.format("rate").load(), "value")
    assert error.value.getCondition() == "ZCUBE_STREAMING_NOT_SUPPORTED"


def test_a_column_may_have_any_name(points):
    df = points.withColumnRenamed("x", "a) ; DROP")
    clustered = zcube.cluster(df, "a) ; DROP", num_partitions=2, curve="linear")
    assert checksum.multiset(clustered) == checksum.multiset(df)
    # A hint that is dropped leaves four partitions, each of which has all of the values.
    low, high = clustered.select("`a) ; DROP`").rdd.glom().collect()
    assert max(low) <= min(high)
    assert len(low) == pytest.approx(len(high), rel=0.1)


@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_a_session_that_ignores_hints_is_rejected(spark, value):
    spark.conf.set("spark.sql.optimizer.disableHints", value)
    with pytest.raises(zcube.ZCubeError, match=r"spark\.sql\.optimizer\.disableHints=true"):
        zcube.cluster(spark.range(9), "id")
    spark.conf.set("spark.sql.optimizer.disableHints", "false")
    assert zcube.cluster(spark.range(9), "id", num_partitions=3).rdd.getNumPartitions() == 3
