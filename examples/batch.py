"""A batch job: append each day's rows to a clustered table, and cluster what is new.

python examples/batch.py FOLDER
"""

import sys

import zcube
from pyspark.sql import DataFrame, SparkSession

folder = sys.argv[1]
builder = SparkSession.builder.appName("batch")
# Delta reads its log with 50 tasks; for one so short, two are quicker.
builder = builder.config("spark.databricks.delta.snapshotPartitions", "2")
spark = zcube.configure(builder).getOrCreate()
events = zcube.ClusteredTable.for_path(spark, f"{folder}/events")


def rows(day: int) -> DataFrame:
    """One day's events, which make 8 files."""
    return spark.range(day * 20_000, (day + 1) * 20_000, 1, 8).selectExpr(
        "id",
        f"date_add(DATE'2026-01-01', {day}) AS day",
        "CAST(pmod(hash(id), 5000) AS INT) AS user",
        "pmod(hash(id, 1), 1000) / 10.0 AS amount",
    )


rows(0).write.format("delta").clusterBy("day", "user").save(f"{folder}/events")
for day in range(1, 3):
    rows(day).write.format("delta").mode("append").save(f"{folder}/events")
    # Leave max_file_size out for a table of a real size; this one would be a single file.
    done = events.optimize(max_bytes="200g", max_duration="45min", max_file_size="48k")
    print(f"day {day}: {done.files_removed} files rewritten into {done.files_added}")

quality = events.quality()
read = quality.files_read("day = '2026-01-02' AND user = 17")
print(f"a query for one user's day reads {len(read)} of {quality.all.files} files")
assert len(read) < quality.all.files / 4
assert spark.read.format("delta").load(f"{folder}/events").count() == 60_000
again = events.optimize(max_file_size="48k")
print(f"an OPTIMIZE with nothing to do rewrites {again.files_removed} files")
assert again.files_removed == 0
