"""The Spark session of a benchmark: two cores, ZCube and Delta, little output."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def scratch(settings: Mapping[str, str | int]) -> Iterator[tuple[SparkSession, Path]]:
    """A session and a folder for its tables, both removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="zcube-bench-"))
    spark = session(folder, settings)
    try:
        yield spark, folder
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)


def bench_data() -> Path:
    """The folder that keeps generated data from one run to the next."""
    folder = Path(".build", "bench-data").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder
