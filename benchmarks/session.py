"""The Spark session that a benchmark runs in: two cores, ZCube and Delta, no noise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import zcube
from pyspark.sql import SparkSession

SNAPSHOT_PARTITIONS = "spark.databricks.delta.snapshotPartitions"
MAX_FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
DRIVER_MEMORY = "spark.driver.memory"


def session(folder: Path, settings: Mapping[str, str | int]) -> SparkSession:
    """Start a session whose warehouse is in a folder."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    )
    for key, value in settings.items():
        builder = builder.config(key, str(value))
    spark = zcube.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark
