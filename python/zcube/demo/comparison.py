"""Runs OPTIMIZE with ZCube and with Delta, and measures both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zcube.demo.event_log import EventLog, Work
from zcube.demo.queries import Query, Reading, read_by
from zcube.results.optimize import OptimizeResult
from zcube.table import ClusteredTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ["l_shipdate", "l_partkey"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an OPTIMIZE: its result, its duration, and what queries read after it."""

    result: OptimizeResult
    seconds: float
    work: Work
    readings: Sequence[Reading]


@dataclass(frozen=True)
class Multiset:
    """An order-independent fingerprint: tables with equal fingerprints hold the same rows."""

    rows: int
    checksum: str


def optimize(
    spark: SparkSession,
    log: EventLog,
    table: Path,
    *,
    by_zcube: bool,
    rows: int,
    queries: Sequence[Query],
) -> Outcome:
    """Run the same statement with ZCube's command or with Delta's own."""
    spark.conf.set("spark.zcube.enabled", str(by_zcube).lower())
    try:
        start = log.position()
        began = time.perf_counter()
        result = ClusteredTable.for_path(spark, str(table)).optimize(zorder_by=COLUMNS)
        seconds = time.perf_counter() - began
        work = log.work(start, log.position(), rows)
    finally:
        spark.conf.unset("spark.zcube.enabled")
    return Outcome(result, seconds, work, [read_by(spark, table, query) for query in queries])


def multiset(spark: SparkSession, table: Path) -> Multiset:
    """Count the rows and add up a 64-bit hash of each; as DECIMAL, the sum can't overflow."""
    df = spark.read.format("delta").load(str(table))
    columns = ", ".join(sorted(df.columns))
    row = df.selectExpr(
        "count(*) AS n", f"sum(cast(xxhash64({columns}) AS DECIMAL(38, 0))) AS s"
    ).collect()[0]
    return Multiset(row["n"], str(row["s"]))
