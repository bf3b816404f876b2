"""spark-submit --jars on a standalone cluster, without the Python package."""

import subprocess

import pytest
from zcube._spark import jar, versions

from tests.support import jars
from tests.support.processes import bare_python
from tests.support.standalone_cluster import JAVA_OPTIONS, SPARK, StandaloneCluster

SCRIPT = """
import sys
from pyspark.sql import SparkSession
try:
    import zcube
    sys.exit("the Python package must not be there")
except ImportError:
    pass
spark = SparkSession.builder.getOrCreate()
path = sys.argv[1]
spark.range(0, 20000, 1, 6).selectExpr("id", "hash(id) x", "hash(id, 1) y").write.format("delta").save(path)
row = spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ('curve' = 'hilbert')").collect()[0]
hosts = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
ids = spark.sql("SELECT count(DISTINCT range_partition_id(hash(id), 7)) FROM range(1000)").collect()[0][0]
total = spark.read.format("delta").load(path).selectExpr("count(*)", "sum(id)").collect()[0]
print("RESULT", row.metrics.numFilesAdded > 3, hosts, ids, *total)
"""


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers on loopback."""
    with StandaloneCluster(tmp_path) as cluster:
        yield cluster.master, cluster.environment


@pytest.mark.slow
def test_spark_submit_with_only_the_jar_optimizes_on_a_cluster(spark, cluster, path, tmp_path):
    master, environment = cluster
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    needed = [str(jar.jar_path(versions.spark_line())), *jars.of_delta()]
    assert len(needed) == 3
    environment = {**environment, **bare_python(tmp_path)}
    done = subprocess.run(
        [
            str(SPARK / "bin/spark-submit"), "--master", master, "--jars", ",".join(needed),
            "--conf", "spark.sql.extensions=io.zcube.sql.ZCubeSparkSessionExtension,"
            "io.delta.sql.DeltaSparkSessionExtension",
            "--conf", "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=600m",
            "--conf", f"spark.executor.extraJavaOptions={JAVA_OPTIONS}",
            "--conf", "spark.driver.memory=700m", "--conf", "spark.driver.host=127.0.0.1",
            "--conf", "spark.sql.shuffle.partitions=4",
            "--conf", "spark.databricks.delta.snapshotPartitions=2",
            "--conf", "spark.databricks.delta.optimize.maxFileSize=60000",
            "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse",
            str(script), path,
        ],
        capture_output=True, text=True, env=environment, timeout=300,
    )  # fmt: skip
    # The driver and two executors.
    assert f"RESULT True 3 7 20000 {20000 * 19999 // 2}" in done.stdout, (
        done.stdout[-1000:] + done.stderr[-4000:]
    )
