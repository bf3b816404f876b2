"""Seeded queries, and how many files they must read by the statistics in the log."""

from __future__ import annotations

from collections.abc import Iterable
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
    another to another row's. Columns with only NULLs aren't queried, and NULLs aren't compared for
    equality.
    """
    rng = np.random.default_rng(seed)
    values = [_plain(rows.column(c)) for c in range(columns)]
    whole = [r for r in range(rows.num_rows) if all(v[r] is not None for v in values)]
    if len(whole) < EACH:
        whole = [r for r in range(rows.num_rows) if any(v[r] is not None for v in values)]
    ordered = [sorted(v for v in column if v is not None) for column in values]

    def interval(column: int, share: float) -> tuple[int, Any, Any]:
        known = ordered[column]
        # For a mostly-NULL column, not so many rows that it covers all non-NULL values.
        length = max(1, min(round(share * rows.num_rows), round(2 * share * len(known))))
        start = int(rng.integers(0, len(known) - length))
        return column, known[start], known[start + length - 1]

    def equal(column: int, row: int) -> tuple[int, Any, Any]:
        return column, values[column][row], values[column][row]

    def known(intervals: Iterable[tuple[int, Any, Any]]) -> tuple[tuple[int, Any, Any], ...]:
        return tuple(interval for interval in intervals if interval[1] is not None)

    queries = []
    for number in range(EACH):
        queries.append(Query("range", (interval(number % columns, 0.01),)))
        queries.append(Query("box", tuple(interval(c, 0.1) for c in range(columns))))
        row = whole[int(rng.integers(0, len(whole)))]
        queries.append(Query("point", known(equal(c, row) for c in range(columns))))
        # Of one column: one of two values.
        two = rng.choice(columns, 2, replace=False) if columns > 1 else [0, 0]
        some = [whole[int(r)] for r in rng.integers(0, len(whole), 2)]
        pairs = zip(two, some, strict=True)
        queries.append(Query("or", known(equal(int(c), r) for c, r in pairs)))
    return [query for query in queries if query.intervals]


def files_read(
    files: list[LiveFile], queries: list[Query], names: list[str] | None = None
) -> dict[str, int]:
    """By kind, the number of files that statistics don't rule out, summed over the queries.

    Args:
        files: from the log.
        queries: over columns by their numbers.
        names: of the columns in the statistics; c0, c1 and so on by default.
    """
    bounds: dict[int, tuple[Any, ...]] = {}
    for column in {c for query in queries for c, _, _ in query.intervals}:
        name = names[column] if names else f"c{column}"
        holds = np.array([f.rows != f.null_count[name] for f in files])
        known = np.array([name in f.minimum for f in files])
        if known.any():
            # A file without a smallest value has only NULLs.
            assert (known == holds).all()
            first = next(f.minimum[name] for f in files if name in f.minimum)
            low = np.array([f.minimum.get(name, first) for f in files])
            high = np.array([f.maximum.get(name, first) for f in files])
            bounds[column] = holds, low, high
        else:
            # Delta keeps none for booleans.
            bounds[column] = (holds,)
    read = dict.fromkeys(KINDS, 0)
    for query in queries:
        hits = [
            holds & (ends[0] <= upper) & (ends[1] >= lower) if ends else holds
            for column, lower, upper in query.intervals
            for holds, *ends in [bounds[column]]
        ]
        touched = np.logical_or.reduce(hits) if query.kind == "or" else np.logical_and.reduce(hits)
        read[query.kind] += int(touched.sum())
    return read


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Values as the log's JSON has them: dates and times are ISO text, decimals numbers."""
    values = column.to_pylist()
    if pa.types.is_date(column.type):
        return [None if v is None else date.isoformat(v) for v in values]
    if pa.types.is_timestamp(column.type):
        # Whole seconds, which the statistics' milliseconds hold exactly.
        return [None if v is None else f"{v:%Y-%m-%dT%H:%M:%S}.000Z" for v in values]
    if pa.types.is_decimal(column.type):
        return [None if v is None else float(Decimal(v)) for v in values]
    return values
