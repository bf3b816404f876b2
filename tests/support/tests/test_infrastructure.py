"""The measuring tools themselves: a wrong one would let wrong layouts pass."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.support.checksum import multiset
from tests.support.job_counter import JobCounter
from tests.support.log_replay import data_files_on_disk, files_ever_added, live_files
from tests.support.skipping import all_of, any_of, between, equal_to, files_scanned, must_read


def write_points(spark: SparkSession, path: str) -> None:
    """A table of 8 files: x in file order, y scattered."""
    df = spark.range(0, 800, 1, 8).selectExpr("id AS x", "(id * 37) % 800 AS y")
    df.write.format("delta").save(path)


def test_checksum_ignores_order_and_counts_duplicates(spark: SparkSession) -> None:
    df = spark.range(100).selectExpr("id", "id % 7 AS k")
    assert multiset(df) == multiset(df.orderBy(df["id"].desc()))
    assert multiset(df) != multiset(df.union(df.limit(1)))
    # The same count and the same sums by column, but other rows.
    swapped = spark.createDataFrame([(1, 4), (2, 3)], "a int, b int")
    assert multiset(swapped) != multiset(spark.createDataFrame([(1, 3), (2, 4)], "a int, b int"))


def test_no_rows_have_checksum_zero(spark: SparkSession) -> None:
    empty = multiset(spark.range(0))
    assert (empty.rows, empty.checksum) == (0, 0)


def test_files_to_read_agree_with_what_spark_reads(spark: SparkSession, path: str) -> None:
    write_points(spark, path)
    files = live_files(path)
    assert len(files) == 8
    assert sum(file.rows or 0 for file in files) == 800
    table = spark.read.format("delta").load(path)
    cases = [
        ("x = 150", equal_to("x", 150), 1),
        ("x BETWEEN 150 AND 250", between("x", 150, 250), 2),
        ("x = 150 OR x = 650", any_of(equal_to("x", 150), equal_to("x", 650)), 2),
        ("y BETWEEN 100 AND 700", between("y", 100, 700), 8),
        ("x < 0 AND y = 3", all_of(between("x", -9, -1), equal_to("y", 3)), 0),
    ]
    for text, predicate, expected in cases:
        names = {file.path for file in must_read(files, predicate)}
        assert len(names) == expected, text
        assert files_scanned(table.where(text)) == names, text


def test_log_replay_follows_removals(spark: SparkSession, path: str) -> None:
    write_points(spark, path)
    assert data_files_on_disk(path) == files_ever_added(path)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE x < 100")
    assert len(live_files(path)) == 7
    assert len(files_ever_added(path)) == 8


def test_job_counter_sees_description_and_input(
    spark: SparkSession, path: str, job_counter: JobCounter
) -> None:
    write_points(spark, path)
    with job_counter() as jobs:
        spark.sparkContext.setJobDescription("counting x")
        spark.read.format("delta").load(path).where("y >= 0").selectExpr("sum(x)").collect()
        spark.sparkContext.setJobDescription(None)
    # Delta reads its log in jobs of its own; only the scan of the table reads 800 rows.
    scans = jobs.reading(800)
    assert [job.input_records for job in scans] == [800]
    assert scans == [job for job in jobs.described("counting x") if job in scans]
    with job_counter() as none:
        pass
    assert len(none) == 0
