"""Runs OPTIMIZE and counts what it did."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATEMENT = "OPTIMIZE delta.`{}` ZORDER BY (l_shipdate, l_partkey)"


@dataclass(frozen=True)
class Run:
    """One OPTIMIZE: wall and CPU seconds, Spark jobs that read every row, and its metrics."""

    wall: float
    cpu: float
    passes: int
    files: int


def optimize(spark: SparkSession, table: Path, *, by_zcube: bool) -> Run:
    """Run the statement by ZCube's command or by Delta's."""
    rows = spark.read.format("delta").load(str(table)).count()
    spark.conf.set("spark.zcube.enabled", str(by_zcube).lower())
    jobs_before = _jobs(spark)
    wall, cpu = time.monotonic(), cpu_seconds(spark)
    result = spark.sql(STATEMENT.format(table)).collect()[0]
    wall, cpu = time.monotonic() - wall, cpu_seconds(spark) - cpu
    reading = [
        stages
        for job, stages in _jobs(spark).items()
        if job not in jobs_before and any(records >= rows for records in stages)
    ]
    return Run(wall, cpu, len(reading), result["metrics"]["numFilesAdded"])


def cpu_seconds(spark: SparkSession) -> float:
    """Return the CPU time that Spark's JVM has used: user and system, all threads."""
    jvm: Any = spark._jvm
    stat = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _jobs(spark: SparkSession) -> dict[int, list[int]]:
    """Return, for each job so far, the records that each of its stages read from files."""
    context: Any = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    jobs = store.jobsList(None)
    found = {}
    for job in (jobs.apply(i) for i in range(jobs.size())):
        stages = job.stageIds()
        attempts = (store.lastStageAttempt(stages.apply(i)) for i in range(stages.size()))
        found[job.jobId()] = [attempt.inputRecords() for attempt in attempts]
    return found
