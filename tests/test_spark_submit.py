"""spark-submit --jars on a standalone cluster, with nothing of the Python package installed."""

import glob
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pyspark
import pytest
from zcube import _jar, _versions

SPARK = Path(pyspark.__file__).parent

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


def free_port():
    with closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(log, text, seconds=90):
    for _ in range(seconds * 2):
        if log.exists() and text in log.read_text():
            return
        time.sleep(0.5)
    raise AssertionError(f"{text!r} did not come up:\n{log.read_text()[-3000:]}")


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers on loopback."""
    port = free_port()
    master = f"spark://127.0.0.1:{port}"
    environment = dict(
        os.environ, SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=str(SPARK), SPARK_DAEMON_MEMORY="256m",
        SPARK_WORKER_DIR=str(tmp_path / "work"),
    )  # fmt: skip
    started = []

    def start(name, *arguments):
        log = tmp_path / f"{name}.log"
        process = subprocess.Popen(
            [str(SPARK / "bin/spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
            stdout=log.open("w"), stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
        started.append(process)
        return log

    try:
        ui = ["--webui-port", "0"]
        wait_for(
            start("master", "master.Master", "--host", "127.0.0.1", "--port", str(port), *ui),
            "New state: ALIVE",
        )
        for name in ("worker1", "worker2"):
            log = start(
                name, "worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "700m", *ui, master
            )
            wait_for(log, "Successfully registered with master")
        yield master, environment
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=30)


def delta_jars(spark):
    """Delta's jars, as Ivy brought them for the session of the other tests."""
    # PySpark hands what Ivy brought to Python as well.
    jars = spark.sparkContext._jsc.sc().getConf().get("spark.submit.pyFiles").split(",")
    return [jar for jar in jars if re.search(r"io\.delta_delta-(spark|storage)", jar)]


@pytest.mark.slow
def test_spark_submit_with_the_jar_alone(spark, cluster, path, tmp_path):
    master, environment = cluster
    script = tmp_path / "job.py"
    script.write_text(SCRIPT)
    jars = [str(_jar.jar_path(_versions.spark_line())), *delta_jars(spark)]
    assert len(jars) == 3
    # -S and a bare PYTHONPATH: site-packages, and with it our package, are out of sight.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    environment = dict(environment, PYSPARK_PYTHON=str(python), PYSPARK_DRIVER_PYTHON=str(python))
    py4j = next(iter(glob.glob(str(SPARK / "python/lib/py4j-*.zip"))))
    environment["PYTHONPATH"] = os.pathsep.join([str(SPARK / "python/lib/pyspark.zip"), py4j])
    done = subprocess.run(
        [
            str(SPARK / "bin/spark-submit"), "--master", master, "--jars", ",".join(jars),
            "--conf", "spark.sql.extensions=io.zcube.sql.ZCubeSparkSessionExtension,"
            "io.delta.sql.DeltaSparkSessionExtension",
            "--conf", "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
            "--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=600m",
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
