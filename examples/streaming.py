"""A stream that appends to a clustered table, and an OPTIMIZE beside it.

python examples/streaming.py FOLDER
"""

import sys
import time

import zcube
from pyspark.sql import SparkSession

folder = sys.argv[1]
builder = SparkSession.builder.appName("streaming")
# Delta reads its log with 50 tasks; for one so short, two are quicker.
builder = builder.config("spark.databricks.delta.snapshotPartitions", "2")
spark = zcube.configure(builder).getOrCreate()
table = f"delta.`{folder}/clicks`"
spark.sql(
    f"CREATE TABLE {table} (id BIGINT, day DATE, user INT) USING delta CLUSTER BY (day, user)"
)

# Spark's source for trials: each batch has 500 rows, numbered from 0 on.
source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 500).load()
clicks = source.selectExpr(
    "value AS id",
    "date_add(DATE'2026-01-01', CAST(value % 30 AS INT)) AS day",
    "CAST(pmod(hash(value), 5000) AS INT) AS user",
)
writer = clicks.writeStream.format("delta").option("checkpointLocation", f"{folder}/checkpoint")
stream = writer.start(f"{folder}/clicks")


def wait_for_batch(number: int) -> None:
    """Return when the stream has written that batch, or has failed."""
    while stream.isActive and (not stream.lastProgress or stream.lastProgress.batchId < number):
        time.sleep(0.1)


# A scheduler does this every hour, in a job of its own.
for batch in (1, 4):
    wait_for_batch(batch)
    done = zcube.ClusteredTable.for_path(spark, f"{folder}/clicks").optimize()
    print(f"beside the stream: {done.files_removed} files rewritten into {done.files_added}")
    assert done.files_removed > 1

wait_for_batch(5)
assert stream.isActive, "appends and an OPTIMIZE never fail because of each other"
stream.stop()
rows = spark.sql(f"SELECT count(*), count(DISTINCT id), max(id) FROM {table}").first()
print(f"{rows[0]} rows, each once")
assert rows[0] == rows[1] == rows[2] + 1
