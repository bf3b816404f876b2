"""CPU time of Spark's JVM."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession


def cpu_seconds(spark: SparkSession) -> float:
    """User and system seconds of all threads of the JVM so far (Linux)."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
