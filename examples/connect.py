"""A client of Spark Connect: zcube[connect], no Java. Only the server has the jar.

docs/python.md says how to install the package.

Start the server as examples/submit.py is started, by sbin/start-connect-server.sh of Spark. Then

python examples/connect.py sc://localhost:15002 FOLDER      # a folder that the server sees
"""

import sys

import zcube
from pyspark.sql import SparkSession

url, folder = sys.argv[1:]
spark = zcube.configure(SparkSession.builder.remote(url)).getOrCreate()
rows = spark.range(0, 40_000, 1, 8).selectExpr("id", "hash(id) AS x", "hash(id, 1) AS y")
rows.write.format("delta").save(f"{folder}/points")

points = zcube.ClusteredTable.for_path(spark, f"{folder}/points")
done = points.optimize(zorder_by=["x", "y"], max_file_size="48k")
quality = points.quality()
read = quality.files_read("x = 5 AND y = 5")
print(f"{done.files_removed} files rewritten into {done.files_added}")
print(f"a query for one point reads {len(read)} of {quality.all.files} files")
assert len(read) == 1 < quality.all.files
