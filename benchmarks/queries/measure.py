"""Runs a query and reads from its plan what was scanned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession

from benchmarks.cpu import timed

FIGURES = {"files": "numFiles", "bytes": "filesSize", "rows": "numOutputRows"}
"""Names in the results, and those of Spark's metrics of a scan."""


def run(
    spark: SparkSession, sql: str, tables: Mapping[Path, str]
) -> tuple[list[Row], dict[str, float], dict[str, dict[str, int]]]:
    """Run a query.

    Args:
        spark: the session in which the query's tables have their names.
        sql: the query.
        tables: the tables whose scans count, by path.

    Returns:
        The rows, wall and CPU seconds, and for each table read the figures of its scans together.
    """
    found: list[Row] = []
    frames = []

    def act() -> None:
        frame = spark.sql(sql)
        frames.append(frame)
        found.extend(frame.collect())

    time = timed(spark, act)
    plan = frames[0]._jdf.queryExecution().executedPlan()
    read: dict[str, dict[str, int]] = {}
    # A subquery is in each node that compares with its result.
    scans = {scan.metrics().apply("numFiles").id(): scan for scan in _scans(plan)}
    for scan in scans.values():
        table = tables.get(Path(scan.relation().location().rootPaths().head().toUri().getPath()))
        if table is None:
            continue
        sums = read.setdefault(table, dict.fromkeys(FIGURES, 0))
        for figure, metric in FIGURES.items():
            sums[figure] += int(scan.metrics().apply(metric).value())
    return found, time, read


def _scans(plan: Any) -> Iterator[Any]:
    """The scans of files in an executed plan; a result that is used twice counts once."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        yield from _scans(plan.executedPlan())
        return
    if name.endswith("QueryStageExec"):
        yield from _scans(plan.plan())
        return
    if name == "FileSourceScanExec":
        yield plan
    if name.startswith("Reused"):
        return
    for nested in (plan.children(), plan.subqueries()):
        for number in range(nested.size()):
            yield from _scans(nested.apply(number))
