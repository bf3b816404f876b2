"""Spark Connect with a server in a separate process: only the server has ZCube's jar."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from importlib.metadata import version
from pathlib import Path

import pyspark
import pytest
from zcube._spark import jar, versions
from zcube.session import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, ZCUBE_EXTENSION

from tests.support.jars import of_delta
from tests.support.processes import wait_for_port

SPARK = Path(pyspark.__file__).parent
EXAMPLE = Path(__file__).resolve().parents[2] / "examples/connect.py"
pytestmark = pytest.mark.slow
# Since Delta 4.4, a client raises conflicts as Delta's own exceptions.
CONFLICT = None if version("delta-spark").startswith("4.3.") else "ConcurrentAppendException"

CLIENT = """
import sys, zcube
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from zcube import ClusteredTable, functions as zf

url, path = sys.argv[1:]
spark = zcube.configure(SparkSession.builder.remote(url)).getOrCreate()
df = spark.range(0, 8000, 1, 4).selectExpr("id", "hash(id) AS x", "hash(id, 1) AS y")
"""

WORK = (
    CLIENT
    + """
cells = spark.sql("SELECT a.id AS x, b.id AS y FROM range(4) a, range(4) b")
index = cells.select("x", "y", zf.hilbert_index(2, "x", "y").alias("h")).collect()
print("hilbert", {(r.x, r.y): r.h for r in index}[2, 0])
print("interleaved", bytes(spark.sql("SELECT interleave_bits(214, 97)").collect()[0][0]).hex())
six = spark.createDataFrame([(v,) for v in (0, 1, 3, 15, 36, 99)], "v INT")
ids = six.select("v", zf.range_partition_id("v", 3).alias("r")).orderBy("v").collect()
print("ranges", [r.r for r in ids])
df.write.format("delta").save(path)
table = ClusteredTable.for_path(spark, path)
for curve in (None, "hilbert", "linear"):
    print("OPTIMIZE", table.optimize(zorder_by=["x", "y"], curve=curve).files_added)
quality = table.quality()
spark.read.format("delta").load(path).cache().count()
print("quality", quality.all.average_depth, quality.cubes, len(quality.files_read("x > 0")))
spark.catalog.clearCache()
print("plan", table.optimize(zorder_by=["x"], dry_run=True).cubes[0].reasons)
forecast = table.optimize(zorder_by=["x"], dry_run=True, forecast=True).forecast
print("forecast", forecast.rows, forecast.quality[-1].column)
print("advice", len(table.recommend([("x > 0", 2), "y = 1"]).today.queries))
try:
    table.optimize(zorder_by=["nope"])
except PySparkException as error:
    print("rejected:", error.getCondition())
from pyspark.errors.exceptions.connect import EXCEPTION_CLASS_MAPPING
of_conflicts = EXCEPTION_CLASS_MAPPING.get("io.delta.exceptions.ConcurrentAppendException")
print("conflicts:", of_conflicts and of_conflicts.__name__)
df.write.format("delta").clusterBy("x").save(path + "-clustered")
clustered = ClusteredTable.for_path(spark, path + "-clustered")
clustered.cluster_by("x", "y")
print("clustered by", clustered.clustering_columns)
result = clustered.optimize(curve="kdtree", weights={"x": 2}, max_bytes="1g", max_duration="1h")
print("cubes", [(cube.state, cube.reasons) for cube in result.cubes], result.left_files)
df.limit(100).write.format("delta").mode("append").save(path + "-clustered")
result = clustered.optimize(curve="kdtree", weights={"x": 2}, where="x is not null")
print("again", result.files_removed, result.kept)
import os
from urllib.parse import urlsplit
spark.conf.set("spark.zcube.mergeInto.pruning", "true")
spark.conf.set("spark.zcube.mergeInto.minTableBytes", "0")
parts = df.selectExpr("id", "'old' AS v").repartitionByRange(8, "id")
parts.write.format("delta").save(path + "-merged")
source = spark.createDataFrame([(3, "new"), (9000, "new")], "id BIGINT, v STRING")
source.createOrReplaceTempView("updates")
merge = (
    f"MERGE INTO delta.`{path}-merged` t USING updates s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
)
# A MERGE that read any other file would fail.
needed = set(spark.read.format("delta").load(path + "-merged").where("id = 3").inputFiles())
others = set(spark.read.format("delta").load(path + "-merged").inputFiles()) - needed
paths = [urlsplit(name).path for name in others]
for path_of in paths:
    os.rename(path_of, path_of + ".hidden")
spark.sql(merge).collect()
for path_of in paths:
    os.rename(path_of + ".hidden", path_of)
after = spark.read.format("delta").load(path + "-merged")
print("merged", len(others), after.count(), after.where("v = 'new'").count())
spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "2")
for _ in range(2):
    df.limit(100).write.format("delta").mode("append").save(path + "-clustered")
last = spark.sql(f"DESCRIBE HISTORY delta.`{path}-clustered`").first()
parameters = last.operationParameters
print("auto compaction", last.operation, parameters["auto"], "cubeId" in parameters)
rows = zcube.cluster(df, "x", curve="linear", num_partitions=5, sort=True)
rows.write.parquet(path + "-parquet")
print("rows", spark.read.parquet(path + "-parquet").count())
import pyspark.sql.connect.session
assert isinstance(spark, pyspark.sql.connect.session.SparkSession)
from pyspark import SparkContext
assert SparkContext._gateway is None, "the client started a JVM"
"""
)

COMMANDS = """
import sys
from contextlib import redirect_stderr
from zcube import cli

url, path, output = sys.argv[1:]
for arguments in (
    ["quality", path, "--by", "x,y", "--max-depth", "4"],
    ["report", path, "--by", "x,y", "-o", output],
    ["report", path, "--by", "x,y", "-o", output + "2", "--predicate", "x > 0"],
    ["plot", path, "--by", "x,y", "-o", output + ".png", "--kind", "depth"],
    ["plot", path, "--by", "x,y", "-o", output + ".svg"],
    ["plan", path, "--zorder-by", "x"],
):
    with redirect_stderr(sys.stdout):
        print("exit", cli.main([*arguments, "--json", "--remote", url]))
"""

WITHOUT = (
    CLIENT
    + """
for attempt in (
    lambda: zcube.cluster(df, "x"),
    lambda: ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"]),
):
    try:
        attempt()
    except zcube.ZCubeError as error:
        print("rejected:", error)
"""
)


@contextmanager
def connect_server(tmp_path, **settings):
    """A server on a free port of loopback, stopped at the end."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.databricks.delta.snapshotPartitions": "2",
        **settings,
    }
    command = [str(SPARK / "bin/spark-submit"), "--master", "local[2]"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    command += [
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "spark-internal",
    ]
    log = tmp_path / "server.log"
    server = subprocess.Popen(
        command, stdout=log.open("w"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if "PYSPARK" not in key},
    )  # fmt: skip
    try:
        wait_for_port(port, server, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(timeout=60)


def run_client(script, *arguments):
    environment = {key: value for key, value in os.environ.items() if "PYSPARK" not in key}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True, text=True, timeout=300, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.long
def test_everything_works_when_only_the_server_has_the_jar(spark, tmp_path, path):
    jars = [str(jar.jar_path(versions.spark_line())), *of_delta()]
    with connect_server(
        tmp_path,
        **{
            "spark.jars": ",".join(jars),
            EXTENSIONS: f"{DELTA_EXTENSION},{ZCUBE_EXTENSION}",
            CATALOG: DELTA_CATALOG,
        },
    ) as url:
        printed = run_client(WORK, url, path)
        commands = run_client(COMMANDS, url, path, str(tmp_path / "report"))
        example = run_client(EXAMPLE.read_text(), url, str(tmp_path))
    assert re.fullmatch(r"a query for one point reads 1 of \d+ files", example[-1])
    check_commands(commands, tmp_path / "report")
    assert printed == [
        "hilbert 14",
        f"interleaved {46633:016x}",
        "ranges [0, 0, 1, 1, 2, 2]",
        "OPTIMIZE 1",
        "OPTIMIZE 1",
        "OPTIMIZE 1",
        "quality 1.0 1 1",
        "plan {'other columns': 1}",
        "forecast 8000 *",
        "advice 2",
        "rejected: DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
        f"conflicts: {CONFLICT}",
        "clustered by ['x', 'y']",
        "cubes [('committed', {'fresh': 4})] 0",
        "again 1 {'in a cube': 1}",
        "merged 7 8001 2",
        "auto compaction OPTIMIZE true True",
        "rows 8000",
    ]


def check_commands(printed, page):
    """Supported features work over Connect; others raise an error, or are omitted with a message."""
    quality, report, rejected, depth, boxes, plan = printed[::2]
    assert printed[1::2] == [f"exit {code}" for code in (0, 0, 1, 0, 1, 0)]
    assert json.loads(quality)["all"]["average_depth"] == 1.0
    assert json.loads(report) == {"output": str(page)}
    assert "Boxes, cubes and files can't be shown over Spark Connect." in page.read_text()
    assert "aren't available over Spark Connect. Leave the predicate out" in rejected
    assert json.loads(depth) == {"output": f"{page}.png"}
    assert "Draw them in a classic session" in boxes
    assert json.loads(plan)["cubes"][0]["reasons"] == {"other columns": 1}
    assert not Path(f"{page}2").exists()


def test_a_server_without_zcube_is_rejected_and_nothing_is_silently_ignored(tmp_path, path):
    with connect_server(tmp_path) as url:
        printed = run_client(WITHOUT, url, path)
    assert len(printed) == 2
    assert all("start the server with ZCube's jar" in line for line in printed)
