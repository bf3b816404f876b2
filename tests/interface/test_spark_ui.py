"""What Spark's UI and its metrics show of an OPTIMIZE, as a browser and Prometheus read them."""

import json
import re
import subprocess
import sys

import pytest

from tests.support import jars

APPLICATION = """
import json, sys, urllib.request
import zcube
from pyspark.sql import SparkSession
from zcube import ClusteredTable

path = sys.argv[1]
builder = SparkSession.builder.master("local[2]")
for key, value in json.loads(sys.argv[2]).items():
    builder = builder.config(key, value)
spark = zcube.configure(builder).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
spark.sql(f"CREATE TABLE delta.`{path}` (x INT, y INT) USING delta CLUSTER BY (x, y)")
for start in (0, 500):
    rows = spark.range(start, start + 500, 1, 2).selectExpr("hash(id) x", "hash(id, 1) y")
    rows.write.format("delta").mode("append").save(path)
result = ClusteredTable.for_path(spark, path).optimize(max_file_size="4k")

def read(place):
    with urllib.request.urlopen(f"{spark.sparkContext.uiWebUrl}{place}") as answer:
        return answer.read().decode()

name = f"/api/v1/applications/{spark.sparkContext.applicationId}/sql?details=true&length=1000"
print(json.dumps({
    "result": result.to_dict(),
    "executions": json.loads(read(name)),
    "prometheus": read("/metrics/prometheus"),
}))
spark.stop()
"""


@pytest.mark.long
@pytest.mark.slow
def test_the_sql_tab_and_prometheus_report_what_optimize_did(tmp_path):
    settings = {
        "spark.jars": jars.of_session(),
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.plugins": "io.zcube.sql.metrics.ZCubePlugin",
        "spark.metrics.conf.*.sink.prometheusServlet.class":
            "org.apache.spark.metrics.sink.PrometheusServlet",
        "spark.metrics.conf.*.sink.prometheusServlet.path": "/metrics/prometheus",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", APPLICATION, str(tmp_path / "t"), json.dumps(settings)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    reported = json.loads(done.stdout.splitlines()[-1])
    result = reported["result"]
    assert result["files_added"] > 1

    nodes = [
        {metric["name"]: metric["value"] for metric in node["metrics"]}
        for execution in reported["executions"]
        for node in execution["nodes"]
        if any(metric["name"] == "cubes planned" for metric in node["metrics"])
    ]
    (node,) = [node for node in nodes if node]
    assert node["cubes planned"] == node["cubes committed"] == "1"
    assert node["files removed"] == str(result["files_removed"])
    assert node["files added"] == str(result["files_added"])
    assert "cubes dropped after concurrent changes" not in node

    gauges = {
        name: float(value)
        for name, value in re.findall(
            r"ZCubePlugin_(zcube_\w+)_Value\S* (\S+)", reported["prometheus"]
        )
    }
    assert gauges["zcube_runs_active"] == gauges["zcube_cubes_dropped"] == 0
    assert gauges["zcube_cubes_planned"] == gauges["zcube_cubes_committed"] == 1
    assert gauges["zcube_files_removed"] == result["files_removed"]
    assert gauges["zcube_files_added"] == result["files_added"]
    assert gauges["zcube_bytes_removed"] == result["bytes_removed"]
    assert gauges["zcube_bytes_added"] == result["bytes_added"]
    assert 1 <= gauges["zcube_depth_after"] < gauges["zcube_depth_before"]
