"""Guards the speed of OPTIMIZE without a clock: jobs, rows read, rows and bytes shuffled, compared with Delta."""

import shutil

import pytest
from zcube.demo.data import lineitem

ROWS = 60_000
COLUMNS = "l_shipdate, l_partkey, l_suppkey, l_quantity"


@pytest.fixture(scope="module")
def original(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("work-done")
    source = spark.read.parquet(str(lineitem(folder, 0.01)))
    source.limit(ROWS).repartition(6).write.format("delta").save(str(folder / "table"))
    return folder / "table"


def work_of(spark, job_counter, original, path, *, zcube):
    shutil.copytree(original, path)
    spark.conf.set("spark.zcube.enabled", str(zcube).lower())
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(256 << 10))
    with job_counter() as jobs:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY ({COLUMNS})").collect()
    # Jobs that read less than all rows read the log.
    return jobs.reading(ROWS)


def test_a_run_reads_twice_and_shuffles_once(spark, path, job_counter, original):
    sampling, writing = work_of(spark, job_counter, original, path, zcube=True)
    assert (sampling.input_records, writing.input_records) == (ROWS, ROWS)
    assert (sampling.shuffle_records, writing.shuffle_records) == (0, ROWS)
    assert (sampling.spilled_bytes, writing.spilled_bytes) == (0, 0)


@pytest.mark.long
def test_a_run_reads_and_shuffles_less_than_one_of_deltas(spark, path, job_counter, original):
    ours = work_of(spark, job_counter, original, path, zcube=True)
    deltas = work_of(spark, job_counter, original, path + "-delta", zcube=False)
    # Delta samples each column separately, then all rows for the shuffle's bounds, then writes.
    assert (len(ours), len(deltas)) == (2, 4 + 2)
    assert {job.input_records for job in ours + deltas} == {ROWS}
    # Only the rows are shuffled: Delta's rows also carry their position, as bytes.
    assert ours[-1].shuffle_bytes < 0.9 * deltas[-1].shuffle_bytes
