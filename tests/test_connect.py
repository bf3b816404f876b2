"""Everything over Spark Connect, where only the server has the jar."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys, zcube
from pyspark.sql import SparkSession
from zcube import ClusteredTable, functions as zf

settings = dict(zcube.configure(SparkSession.builder.config("spark.ui.enabled", "false"))._options)
builder = SparkSession.Builder().remote("local[2]")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = zcube.configure(builder).getOrCreate()
assert "connect" in type(spark).__module__, type(spark)
path = sys.argv[1]

row = spark.range(1).select(
    zf.hilbert_index(5, *[zf.F.lit(v) for v in (5, 10, 20)]).alias("h"),
    zf.interleave_bits(zf.F.lit(214), zf.F.lit(97)).alias("i"),
    zf.range_partition_id("id", 4).alias("r"),
).collect()[0]
assert (row.h, int.from_bytes(row.i, "big"), row.r) == (7865, 46633, 0), row
df = spark.range(6000).selectExpr("id", "hash(id) x", "hash(id, 1) y", "id `a) ; DROP`")
df.repartition(4).write.format("delta").save(path)
spark.conf.set("spark.databricks.delta.optimize.maxFileSize", "20000")
table = ClusteredTable.for_path(spark, path)
result = table.optimize(zorder_by=["x", "a) ; DROP"], curve="hilbert")
assert result.files_removed == 4 and result.files_added > 2, result
assert spark.read.format("delta").load(path).selectExpr("sum(id)").collect()[0][0] == 5999 * 3000
clustered = zcube.cluster(df, "x", "y", num_partitions=4)
clustered.write.parquet(path + "-pq")
from pyspark.sql import functions as F
parts = spark.read.parquet(path + "-pq").groupBy(F.col("_metadata.file_name")).agg(
    (F.max("x") - F.min("x")).alias("w"), (F.max("y") - F.min("y")).alias("h")).collect()
assert len(parts) == 4 and all(p.w < 2**31 * 1.2 and p.h < 2**31 * 1.2 for p in parts), parts
from pyspark.errors import AnalysisException
try:
    table.optimize(zorder_by=["nope"])
except AnalysisException as e:
    assert e.getCondition().startswith("DELTA_ZORDERING"), e.getCondition()
else:
    raise AssertionError("no error")
print("all over Connect")
spark.stop()
"""


@pytest.mark.slow
def test_over_connect(path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path], capture_output=True, text=True, timeout=300
    )
    assert "all over Connect" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
