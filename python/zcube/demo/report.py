"""Prints the demo's findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from zcube.demo.comparison import Multiset, Outcome
from zcube.demo.queries import Query, Reading
from zcube.results.formatting import size


def print_queries(
    console: Console,
    queries: Sequence[Query],
    before: Sequence[Reading],
    zcube: Outcome,
    delta: Outcome,
) -> None:
    """Show what each query must read before and after."""
    table = Table(title="What each query must read", title_justify="left")
    table.add_column("query")
    for heading in ("before", "after ZCube", "after Delta"):
        table.add_column(f"{heading}\nfiles    MiB", justify="right")
    table.add_column("ZCube /\nDelta", justify="right")
    for query, *readings in zip(queries, before, zcube.readings, delta.readings, strict=True):
        _, ours, theirs = readings
        share = f"{ours.size / theirs.size:.0%}" if theirs.size else "–"
        table.add_row(query.name, *(_reading(reading) for reading in readings), share)
    console.print(table)


def print_commands(console: Console, zcube: Outcome, delta: Outcome) -> None:
    """Show what the two commands cost."""
    table = Table(title="OPTIMIZE … ZORDER BY (l_shipdate, l_partkey)", title_justify="left")
    table.add_column("")
    table.add_column("ZCube", justify="right")
    table.add_column("Delta", justify="right")
    rows = [
        ("seconds", [f"{o.seconds:.1f}" for o in (zcube, delta)]),
        ("CPU seconds of all tasks", [f"{o.work.cpu_seconds:.1f}" for o in (zcube, delta)]),
        ("Spark jobs over the whole input", [str(o.work.input_scans) for o in (zcube, delta)]),
        ("files removed", [str(o.result.files_removed) for o in (zcube, delta)]),
        ("files added", [str(o.result.files_added) for o in (zcube, delta)]),
        ("bytes added", [size(o.result.bytes_added) for o in (zcube, delta)]),
    ]
    for name, values in rows:
        table.add_row(name, *values)
    console.print(table)


def print_rows(console: Console, tables: Mapping[str, Multiset]) -> None:
    """Show that the tables hold the same rows, in any order."""
    console.print("\nThe same rows, judged by their number and the sum of their 64-bit hashes:")
    for name, rows in tables.items():
        console.print(f"  {name:8}{rows.rows:>12,} rows  {rows.checksum}")


def print_next_steps(console: Console, table: Path) -> None:
    """End with three lines to try in Python."""
    console.print("\nTry next, in Python:")
    for line in next_steps(table):
        console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)


def as_dict(
    queries: Sequence[Query], before: Sequence[Reading], zcube: Outcome, delta: Outcome
) -> dict[str, Any]:
    """Return the findings as plain values."""
    commands = {
        name: {
            "seconds": outcome.seconds,
            "work": asdict(outcome.work),
            "result": outcome.result.to_dict(),
        }
        for name, outcome in (("zcube", zcube), ("delta", delta))
    }
    readings = [
        {"query": query.name, "before": asdict(was), "zcube": asdict(ours), "delta": asdict(theirs)}
        for query, was, ours, theirs in zip(
            queries, before, zcube.readings, delta.readings, strict=True
        )
    ]
    return commands | {"queries": readings}


def next_steps(table: Path) -> list[str]:
    """Return three lines of Python that run as they are."""
    return [
        "import zcube; from pyspark.sql import SparkSession",
        "spark = zcube.configure(SparkSession.builder).getOrCreate()",
        f"print(zcube.ClusteredTable.for_path(spark, {str(table)!r})"
        '.optimize(zorder_by=["l_suppkey", "l_shipdate"]))',
    ]


def _reading(reading: Reading) -> str:
    return f"{reading.files:5d} {reading.size / 2**20:6.1f}"
