"""A job for spark-submit, with ZCube's jar (from make jar; docs/places.md) and without its Python package.

spark-submit --jars zcube-spark_4.2_2.13-0.1.0.jar --packages io.delta:delta-spark_4.2_2.13:4.4.0 \
  --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension \
  --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
  examples/submit.py FOLDER
"""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("submit").getOrCreate()
table = f"delta.`{sys.argv[1]}/events`"
spark.sql(f"""
    CREATE TABLE {table} USING delta CLUSTER BY (day, user) AS
    SELECT id, date_add(DATE'2026-01-01', CAST(id DIV 500 AS INT)) AS day,
           CAST(pmod(hash(id), 5000) AS INT) AS user
    FROM range(0, 40000, 1, 16)
""")


def depth() -> float:
    """How many files overlap at a point, on average."""
    rows = spark.sql(f"DESCRIBE CLUSTERING {table} WHERE user < 100").collect()
    return next(row.average_depth for row in rows if row.column == "user")


before = depth()
done = spark.sql(f"OPTIMIZE {table} OPTIONS ('maxFileSize' = '32k')").first().metrics
print(f"{done.numFilesRemoved} files rewritten into {done.numFilesAdded}")
after = depth()
print(f"files over each other along user: {before:.1f} before, {after:.1f} after")
assert after < before
spark.stop()
