"""A stream that appends to a clustered table, and an OPTIMIZE beside it. python examples/streaming.py [FOLDER]"""

import sys
import tempfile

import zcube
from pyspark.sql import SparkSession

folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="zcube-")
spark = zcube.configure(SparkSession.builder.appName("streaming")).getOrCreate()
spark.sql(f"CREATE TABLE delta.`{folder}/clicks` (day DATE, user INT) USING delta CLUSTER BY (day, user)")
clicks = zcube.ClusteredTable.for_path(spark, f"{folder}/clicks")

# A source that gives 500 rows a second, as of no time: each batch is one file or more.
source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 500).load()
stream = (
    source.selectExpr(
        "date_add(DATE'2026-01-01', CAST(value % 30 AS INT)) AS day",
        "CAST(pmod(hash(value), 5000) AS INT) AS user",
    )
    .writeStream.format("delta")
    .option("checkpointLocation", f"{folder}/checkpoint")
    .trigger(processingTime="0 seconds")
    .start(f"{folder}/clicks")
)


def wait_for_batches(count: int) -> None:
    """Let the stream write."""
    last = stream.lastProgress
    first = last.batchId if last else 0
    while stream.isActive and (not stream.lastProgress or stream.lastProgress.batchId < first + count):
        stream.awaitTermination(1)


# In production a scheduler does this every hour, in a job of its own: see docs/operating.md.
for _ in range(2):
    wait_for_batches(4)
    done = clicks.optimize()
    print(f"while the stream writes: {done.files_removed} files rewritten into {done.files_added}")
    assert done.files_removed > 0

assert stream.isActive, "appends and OPTIMIZE never fail because of each other"
stream.processAllAvailable if False else stream.stop()
spark.stop()
