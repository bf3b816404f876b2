"""Tables in a Hive metastore: a server of its own, from the jars that PySpark brings."""

import os
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path

import pyspark
import pytest

from tests.support import jars
from tests.support.class_archive import QUICK
from tests.support.processes import wait_for_port

JARS = Path(pyspark.__file__).parent / "jars"
pytestmark = [pytest.mark.slow, pytest.mark.long]

SESSION = """
import sys
import zcube
from pyspark.sql import SparkSession

uri, warehouse, jars = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").enableHiveSupport()
for key, value in {
    "spark.hadoop.hive.metastore.uris": uri,
    "spark.sql.warehouse.dir": warehouse,
    "spark.jars": jars,
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
}.items():
    builder = builder.config(key, value)
spark = zcube.configure(builder).getOrCreate()
assert spark.conf.get("spark.sql.catalogImplementation") == "hive"

def told(statement):
    metrics = spark.sql(statement).first().metrics
    return metrics.numFilesRemoved, metrics.numFilesAdded

def table(name):
    return zcube.ClusteredTable.for_name(spark, name)
"""

FIRST = (
    SESSION
    + """
spark.sql("CREATE DATABASE shop")
rows = "SELECT id, CAST(hash(id) AS INT) x, CAST(hash(id, 1) AS INT) y, id % 2 p FROM range(0, 8000, 1, 4)"
spark.sql(f"CREATE TABLE shop.clicks USING delta CLUSTER BY (x, y) AS {rows}")
spark.sql(f"CREATE TABLE shop.events USING delta PARTITIONED BY (p) AS {rows}")
print(told("OPTIMIZE shop.clicks"), told("OPTIMIZE shop.events ZORDER BY (x, y)"))
spark.sql("CREATE TABLE shop.copy LIKE shop.clicks")
spark.sql(rows).write.saveAsTable("shop.written", format="delta")
table("shop.written").cluster_by("y")
print([table(f"shop.{name}").clustering_columns for name in ("clicks", "copy", "written", "events")])
# Each file is a range of x: in each but the last, the largest x is below the next file's smallest.
zcube.cluster(spark.sql(rows), "x", curve="linear", num_partitions=3).createOrReplaceTempView("parts")
ranges = spark.sql("SELECT min(x) a, max(x) b FROM parts GROUP BY spark_partition_id() ORDER BY a").collect()
print(len(ranges), all(file.b < following.a for file, following in zip(ranges, ranges[1:])))
"""
)

SECOND = (
    SESSION
    + """
spark.sql("INSERT INTO shop.clicks SELECT id + 8000, x, y, p FROM shop.clicks WHERE id < 100")
print(table("shop.clicks").clustering_columns, told("OPTIMIZE shop.clicks"), told("OPTIMIZE shop.events ZORDER BY (x, y)"))
print([row["column"] for row in spark.sql("DESCRIBE CLUSTERING shop.clicks").collect()])
print(spark.sql("SELECT count(*), count(DISTINCT id), max(id) FROM shop.clicks").first()[:])
spark.sql("ALTER TABLE shop.clicks CLUSTER BY NONE")
print(table("shop.clicks").clustering_columns)
"""
)


@contextmanager
def metastore(folder):
    """A metastore on a free port of loopback, with Derby behind it."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        # Its default needs a library that PySpark doesn't bring.
        "hive.async.log.enabled": "false",
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": str(folder / "warehouse"),
    }
    # It lives for a minute: code of the second compiler would not save what it costs.
    command = ["java", *QUICK.split(), "-Xmx512m", "-cp", f"{JARS}/*"]
    command += ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    for key, value in settings.items():
        command += ["--hiveconf", f"{key}={value}"]
    log = folder / "metastore.log"
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
    try:
        wait_for_port(port, server, log)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)


def test_a_second_process_finds_what_the_first_clustered_in_a_hive_metastore(tmp_path):
    def run(script, uri):
        done = subprocess.run(
            [sys.executable, "-c", script, uri, str(tmp_path / "warehouse"), jars.of_session()],
            capture_output=True, text=True, timeout=900, cwd=tmp_path,
            env={key: value for key, value in os.environ.items() if "PYSPARK" not in key},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        return done.stdout.splitlines()

    with metastore(tmp_path) as uri:
        assert run(FIRST, uri) == [
            "(4, 1) (8, 2)",
            "[['x', 'y'], ['x', 'y'], ['y'], []]",
            "3 True",
        ]
        # Another process knows the columns from the tables, and rewrites only what is new.
        columns, names, rows, none = run(SECOND, uri)
        assert columns == "['x', 'y'] (1, 1) (0, 0)"
        assert names == "['x', 'y', '*']"
        assert rows == "(8100, 8100, 8099)"
        assert none == "[]"
