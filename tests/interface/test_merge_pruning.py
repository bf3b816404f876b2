"""MERGE reads the files that may hold a key of its source, however it is written."""

import re

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql.functions import expr

from tests.support.matrix import cases


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


def merge_by_dataframe(spark, path):
    spark.sql(f"CREATE TABLE merged_into USING delta LOCATION '{path}'")
    try:
        source = spark.table("source").alias("s")
        writer = source.mergeInto("merged_into", expr("merged_into.k = s.k"))
        writer.whenMatched().updateAll().whenNotMatched().insertAll().merge()
    finally:
        spark.sql("DROP TABLE merged_into")


def merge_by_stream(spark, path):
    """A batch of a stream may be read only once, so Delta materializes it."""
    source = f"{path}-source"
    spark.table("source").write.format("delta").save(source)
    stream = spark.readStream.format("delta").load(source).writeStream
    stream = stream.option("checkpointLocation", f"{path}-checkpoint").trigger(availableNow=True)

    def merge(batch, _):
        target = DeltaTable.forPath(spark, path).alias("t")
        merge = target.merge(batch.alias("s"), "t.k = s.k")
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    stream.foreachBatch(merge).start().awaitTermination()


WAYS = [merge_by_sql, merge_by_table, merge_by_dataframe, merge_by_stream]


@pytest.mark.parametrize("merge", cases(WAYS, {merge_by_sql, merge_by_stream}))
@pytest.mark.parametrize(
    ("pruning", "expected"), cases([("true", 2), ("false", 10)], {("true", 2)})
)
def test_a_pruned_merge_reads_fewer_files_and_writes_the_same_rows(
    spark, table, merge, pruning, expected
):
    keys = [3, 7, 1999, 5000]
    spark.createDataFrame([(k, "new") for k in keys], "k BIGINT, v STRING").createOrReplaceTempView(
        "source"
    )
    spark.conf.set("spark.zcube.mergeInto.pruning", pruning)
    spark.conf.set("spark.zcube.mergeInto.minTableBytes", "0")
    try:
        assert files_read(spark, lambda: merge(spark, table)) == expected
    finally:
        spark.conf.unset("spark.zcube.mergeInto.pruning")
        spark.conf.unset("spark.zcube.mergeInto.minTableBytes")
    rows = {row.k: row.v for row in spark.read.format("delta").load(table).collect()}
    assert rows == {k: "old" for k in range(2000)} | {k: "new" for k in keys}


def test_explain_names_the_columns(spark, table):
    spark.range(3).selectExpr("id AS k").createOrReplaceTempView("source")
    merge = f"MERGE INTO delta.`{table}` t USING source s ON t.k = s.k WHEN MATCHED THEN DELETE"

    def plan():
        return spark.sql(f"EXPLAIN {merge}").first()[0]

    spark.conf.set("spark.zcube.mergeInto.pruning", "true")
    assert "may skip files by the source's keys: k" in plan()
    spark.conf.set("spark.zcube.mergeInto.pruning", "false")
    assert "MergeIntoCommand" in plan()
    assert "skip files" not in plan()


@pytest.mark.parametrize("statement", ["DELETE FROM {}", "UPDATE {} SET v = 'new'"])
def test_delta_has_no_other_statement_with_a_source(spark, table, statement):
    """If Delta ever takes a subquery here, its keys could prune too."""
    spark.range(3).selectExpr("id AS k").createOrReplaceTempView("source")
    with pytest.raises(AnalysisException, match="DELTA_UNSUPPORTED_SUBQUERY"):
        spark.sql(statement.format(f"delta.`{table}`") + " WHERE k IN (SELECT k FROM source)")
