"""Measures the time of Spark's JVM."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession


def cpu_seconds(spark: SparkSession) -> float:
    """User and system seconds of all threads of the JVM so far (Linux)."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def collect_garbage(spark: SparkSession) -> None:
    """Run the JVM's garbage collector, so that what ran before doesn't leave it to what comes."""
    spark._jvm.java.lang.System.gc()


def measured(spark: SparkSession, action: Callable[[], object]) -> dict[str, float]:
    """Wall and CPU seconds of an action, after a garbage collection."""
    collect_garbage(spark)
    return timed(spark, action)


def timed(spark: SparkSession, action: Callable[[], object]) -> dict[str, float]:
    """Wall and CPU seconds of an action that is too short for a garbage collection of its own."""
    wall, cpu = time.monotonic(), cpu_seconds(spark)
    action()
    return {"wall": time.monotonic() - wall, "cpu": cpu_seconds(spark) - cpu}
