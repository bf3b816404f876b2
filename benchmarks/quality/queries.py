"""Seeded queries, and how many files they must read by the statistics in the log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from tests.support.log_replay import LiveFile

KINDS = ("range", "box", "point", "or")
EACH = 100
"""Queries of each kind."""


@dataclass(frozen=True)
class Query:
    """Closed intervals of columns, all of which (or any of which) must hold."""

    kind: str
    intervals: tuple[tuple[int, Any, Any], ...]


def draw(rows: pa.Table, columns: int, seed: int) -> list[Query]:
    """Draw queries of the four kinds over the first columns.

    ``range``: 1 % of the rows by one column. ``box``: 10 % of the rows by each column, all at once.
    ``point``: all columns equal to some row's. ``or``: one column equal to some row's value, or
    another to another row's.
    """
    rng = np.random.default_rng(seed)
    values = [_plain(rows.column(c)) for c in range(columns)]
    whole = [r for r in range(rows.num_rows) if all(v[r] is not None for v in values)]
    ordered = [sorted(v for v in column if v is not None) for column in values]

    def interval(column: int, share: float) -> tuple[int, Any, Any]:
        known = ordered[column]
        length = round(share * rows.num_rows)
        start = int(rng.integers(0, len(known) - length))
        return column, known[start], known[start + length - 1]

    def equal(column: int, row: int) -> tuple[int, Any, Any]:
        return column, values[column][row], values[column][row]

    queries = []
    for number in range(EACH):
        queries.append(Query("range", (interval(number % columns, 0.01),)))
        queries.append(Query("box", tuple(interval(c, 0.1) for c in range(columns))))
        row = whole[int(rng.integers(0, len(whole)))]
        queries.append(Query("point", tuple(equal(c, row) for c in range(columns))))
        two = rng.choice(columns, 2, replace=False)
        some = [whole[int(r)] for r in rng.integers(0, len(whole), 2)]
        pairs = zip(two, some, strict=True)
        queries.append(Query("or", tuple(equal(int(c), r) for c, r in pairs)))
    return queries


def files_read(files: list[LiveFile], queries: list[Query]) -> dict[str, int]:
    """By kind, the number of files that statistics don't rule out, summed over the queries."""
    bounds = {}
    for column in {c for query in queries for c, _, _ in query.intervals}:
        name = f"c{column}"
        known = np.array([name in f.minimum for f in files])
        first = next(f.minimum[name] for f in files if name in f.minimum)
        low = np.array([f.minimum.get(name, first) for f in files])
        high = np.array([f.maximum.get(name, first) for f in files])
        bounds[column] = known, low, high
    # Without a smallest value a file has NULLs only.
    assert all(
        f.rows == f.null_count[f"c{c}"] or f"c{c}" in f.minimum for f in files for c in bounds
    )
    read = dict.fromkeys(KINDS, 0)
    for query in queries:
        hits = [
            known & (low <= upper) & (high >= lower)
            for column, lower, upper in query.intervals
            for known, low, high in [bounds[column]]
        ]
        touched = np.logical_or.reduce(hits) if query.kind == "or" else np.logical_and.reduce(hits)
        read[query.kind] += int(touched.sum())
    return read


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Values as the log's JSON has them: dates are ISO text, decimals numbers."""
    values = column.to_pylist()
    if pa.types.is_date(column.type):
        return [None if v is None else date.isoformat(v) for v in values]
    if pa.types.is_decimal(column.type):
        return [None if v is None else float(Decimal(v)) for v in values]
    return values
