"""MERGE reads the files that may hold a key of its source, from SQL and from DeltaTable.merge."""

import re

import pytest
from delta.tables import DeltaTable


@pytest.fixture
def table(spark, path):
    rows = spark.range(0, 2000, 1, 1).selectExpr("id AS k", "'old' AS v")
    rows.repartitionByRange(10, "k").write.format("delta").save(path)
    return path


def files_read(spark, merge):
    """Metrics as Delta reports them."""
    logger = spark._jvm.com.databricks.spark.util.Log4jUsageLogger
    records = spark._jvm.scala.collection.mutable.ArrayBuffer()
    set_tracker = getattr(logger, "usageTracker_$eq")
    set_tracker(records)
    try:
        merge()
    finally:
        set_tracker(None)
    return int(re.search(r'"targetAfterSkipping":\{[^}]*"files":(\d+)', records.toString())[1])


def merge_by_sql(spark, path):
    spark.sql(
        f"MERGE INTO delta.`{path}` t USING source s ON t.k = s.k "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )


def merge_by_table(spark, path):
    target = DeltaTable.forPath(spark, path).alias("t")
    merge = target.merge(spark.table("source").alias("s"), "t.k = s.k")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


@pytest.mark.parametrize("merge", [merge_by_sql, merge_by_table])
@pytest.mark.parametrize(("pruning", "expected"), [("true", 2), ("false", 10)])
def test_a_pruned_merge_reads_fewer_files_and_writes_the_same_rows(
    spark, table, merge, pruning, expected
):
    keys = [3, 7, 1999, 5000]
    spark.createDataFrame([(k, "new") for k in keys], "k BIGINT, v STRING").createOrReplaceTempView(
        "source"
    )
    spark.conf.set("spark.zcube.mergeInto.pruning", pruning)
    try:
        assert files_read(spark, lambda: merge(spark, table)) == expected
    finally:
        spark.conf.unset("spark.zcube.mergeInto.pruning")
    rows = {row.k: row.v for row in spark.read.format("delta").load(table).collect()}
    assert rows == {k: "old" for k in range(2000)} | {k: "new" for k in keys}
