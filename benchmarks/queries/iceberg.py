"""Iceberg's rewrite_data_files with zorder, and the selective queries on it, by Spark 4.1.

A program of its own, as Iceberg has no release for ZCube's Spark line: it needs PySpark 4.1 only, and
``benchmarks.queries`` starts it.

    python -m benchmarks.queries.iceberg TASK.json RESULT.json
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from benchmarks.cpu import collect_garbage, measured, timed

VERSION = "1.12.0"
PACKAGE = f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{VERSION}"


def session(folder: Path, settings: dict[str, str]) -> SparkSession:
    """A session with Iceberg's catalog ``ice`` in a folder."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.jars.packages", PACKAGE)
        .config(
            "spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        )
        .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.ice.type", "hadoop")
        .config("spark.sql.catalog.ice.warehouse", str(folder))
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def cluster(spark: SparkSession, table: dict[str, Any]) -> dict[str, Any]:
    """Write a table and cluster it.

    Returns:
        What clustering took, and the files that it has then.
    """
    name = f"ice.db.{table['name']}"
    rows = spark.read.parquet(table["source"])
    (
        rows.writeTo(name)
        .tableProperty("write.parquet.row-group-size-bytes", str(table["row_group"]))
        .tableProperty("write.parquet.compression-codec", "snappy")
        .create()
    )
    size = spark.sql(f"SELECT sum(file_size_in_bytes) FROM {name}.files").first()[0]
    # Iceberg rounds bytes / target up.
    target = int(size / (table["files"] - 0.5))
    by = ", ".join(table["by"])
    options = f"'target-file-size-bytes', '{target}', 'rewrite-all', 'true'"
    statement = (
        f"CALL ice.system.rewrite_data_files(table => 'db.{table['name']}', strategy => 'sort', "
        f"sort_order => 'zorder({by})', options => map({options}))"
    )
    time = measured(spark, lambda: spark.sql(statement).collect())
    files = [row[0] for row in spark.sql(f"SELECT file_path FROM {name}.files").collect()]
    return {"name": table["name"], **time, "files": files}


def scanned(plan: Any) -> dict[str, int]:
    """Files and rows of the only scan in an executed plan."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        return scanned(plan.executedPlan())
    if name.endswith("QueryStageExec"):
        return scanned(plan.plan())
    if name == "BatchScanExec":
        metrics = plan.metrics()
        return {
            "files": int(metrics.apply("resultDataFiles").value()),
            "rows": int(metrics.apply("numOutputRows").value()),
        }
    children = plan.children()
    # Iceberg answers some aggregates from its metadata.
    return scanned(children.apply(0)) if children.size() else {"files": 0, "rows": 0}


def query(spark: SparkSession, sql: str) -> dict[str, Any]:
    """Run a query; returns its figures and its rows as text."""
    frames, found = [], []

    def act() -> None:
        frames.append(spark.sql(sql))
        found.extend(frames[0].collect())

    time = timed(spark, act)
    read = scanned(frames[0]._jdf.queryExecution().executedPlan())
    return {**time, **read, "answer": [str(tuple(row)) for row in found]}


def main() -> None:
    """Do a task, and write its result."""
    task = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory(prefix="zcube-iceberg-", dir=task["folder"]) as folder:
        spark = session(Path(folder), task["settings"])
        tables = []
        for table in task["tables"]:
            tables.append(cluster(spark, table))
            spark.table(f"ice.db.{table['name']}").createOrReplaceTempView(table["name"])
        runs = []
        for name, sql in task["queries"].items():
            # So that its code is compiled by then.
            query(spark, sql)
            collect_garbage(spark)
            runs.append({"query": name, **query(spark, sql)})
        java = spark._jvm.java.lang.System.getProperty("java.version")
        result = {
            "versions": {"iceberg": VERSION, "spark": pyspark.__version__, "java": java},
            "tables": tables,
            "runs": runs,
        }
        # The caller reads the files' footers before this process removes them.
        Path(sys.argv[2]).write_text(json.dumps(result))
        print("done", flush=True)
        sys.stdin.readline()
        spark.stop()


if __name__ == "__main__":
    main()
