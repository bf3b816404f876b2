"""A batch job: append a day's rows to a clustered table, and cluster what is new. python examples/batch.py [FOLDER]"""

import sys
import tempfile

import zcube
from pyspark.sql import SparkSession

folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="zcube-")
spark = zcube.configure(SparkSession.builder.appName("batch")).getOrCreate()
events = zcube.ClusteredTable.for_path(spark, f"{folder}/events")


def rows(day: int):
    """One day of events: 20,000 rows in 8 files."""
    user, amount = "CAST(pmod(hash(id), 5000) AS INT) AS user", "pmod(hash(id, 1), 1000) AS amount"
    date = f"date_add(DATE'2026-01-01', {day}) AS day"
    return spark.range(day * 20_000, (day + 1) * 20_000, 1, 8).selectExpr("id", date, user, amount)


rows(0).write.format("delta").clusterBy("day", "user").save(f"{folder}/events")
for day in range(1, 4):
    rows(day).write.format("delta").mode("append").save(f"{folder}/events")
    # Files are small here so that a small table has many; leave it out for a table of a real size.
    done = events.optimize(max_bytes="200g", max_duration="45min", max_file_size="48k")
    print(f"day {day}: {done.files_removed} files rewritten into {done.files_added}")

quality = events.quality()
read = quality.files_read("day = '2026-01-02' AND user = 17")
print(f"one user's day is in {len(read)} of {quality.all.files} files")
assert len(read) < quality.all.files / 4
assert spark.read.format("delta").load(f"{folder}/events").count() == 80_000
assert events.optimize(max_file_size="48k").files_removed == 0, "nothing is new, so nothing is done"
spark.stop()
