"""The demo's Spark session; Spark's messages go to a file instead of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from zcube.errors import ZCubeError
from zcube.session import configure


@contextmanager
def spark_session(output: Path, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start Spark for a while.

    Raises:
        ZCubeError: Spark doesn't start; the message says where Spark's messages are.
    """
    log = output / "spark.log"
    builder = (
        SparkSession.builder.appName("zcube demo")
        .master("local[*]")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str((output / "warehouse").resolve()))
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    for key, value in settings.items():
        builder = builder.config(key, value)
    builder = configure(builder)
    with _standard_error_in(log):
        try:
            spark = builder.getOrCreate()
        except Exception as error:
            raise ZCubeError(f"Spark did not start; its messages are in {log}.") from error
    try:
        spark.sparkContext.setLogLevel("ERROR")
        yield spark
    finally:
        spark.stop()


@contextmanager
def _standard_error_in(log: Path) -> Iterator[None]:
    """Redirect the standard error of processes that start in the block to a file, permanently."""
    sys.stderr.flush()
    terminal = os.dup(2)
    with log.open("w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(terminal, 2)
            os.close(terminal)
