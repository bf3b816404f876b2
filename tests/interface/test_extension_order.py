"""The two extensions in the opposite order of zcube.configure's."""

import subprocess
import sys

import pytest

SCRIPT = """
import sys, zcube
from pyspark.sql import SparkSession
order = "io.zcube.sql.ZCubeSparkSessionExtension,io.delta.sql.DeltaSparkSessionExtension"
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.extensions", order)
spark = zcube.configure(builder.config("spark.databricks.delta.snapshotPartitions", "2")).getOrCreate()
assert spark.conf.get("spark.sql.extensions") == order
path = sys.argv[1]
spark.range(1000).selectExpr("id x", "hash(id) y").repartition(3).write.format("delta").save(path)
spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y)")
spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ('curve' = 'hilbert')")
jobs = spark._jsc.sc().statusStore().jobsList(None)
names = [jobs.apply(i).description() for i in range(jobs.size())]
print(sum(n.isDefined() and "OPTIMIZE by (x, y)" in n.get() for n in names), "jobs of ZCube")
spark.stop()
"""


@pytest.mark.slow
def test_the_extensions_work_in_the_other_order(path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path], capture_output=True, text=True, timeout=300
    )
    assert "4 jobs of ZCube" in done.stdout, done.stderr[-3000:]
