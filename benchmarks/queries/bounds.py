"""How close layouts come to the minimum number of files that any layout could read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import geometric_mean

import pyarrow.dataset as ds

from benchmarks.queries.query import Query

SELECTIVE = 0.05
"""A query is selective if at most this share of the table's rows matches."""


def matching(query: Query, source: Path) -> tuple[int, int]:
    """How many rows match a query, and how many there are, by PyArrow from the source's files."""
    rows = ds.dataset(source, format="parquet")
    return rows.count_rows(filter=query.expression(rows.schema)), rows.count_rows()


def bound(matches: int, rows: int, files: int) -> int:
    """The fewest files that could hold the matching rows.

    Args:
        matches: rows that match.
        rows: of the table.
        files: of the table; all hold equally many rows.
    """
    return max(1, -(-matches * files // rows))


def grid(files: int, columns: int, compared: int) -> float:
    """How many files of an even grid hold a value of some of the columns.

    That is what a layout reads that treats all columns alike, as it doesn't know the queries.

    Args:
        files: of the table.
        columns: that it is clustered by.
        compared: how many of them a query compares with a value, or with a narrow range.
    """
    return float(files ** (1 - compared / columns))


def times_bound(read: Iterable[tuple[float, int]]) -> float:
    """The geometric mean of files read ÷ bound, over pairs of both; no file counts as one."""
    return geometric_mean([max(1, files) / least for files, least in read])


class RowGroups:
    """The row groups of a table's files, as their footers describe them; neither Spark nor a log."""

    def __init__(self, files: list[str]) -> None:
        self._table = ds.dataset(files, format="parquet")
        self._fragments = list(self._table.get_fragments())
        for fragment in self._fragments:
            fragment.ensure_complete_metadata()

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(fragment.num_row_groups for fragment in self._fragments)

    def read(self, query: Query) -> tuple[int, int]:
        """How many files and row groups the statistics don't rule out for a query."""
        wanted = query.expression(self._table.schema)
        groups = [len(fragment.subset(wanted).row_groups) for fragment in self._fragments]
        return sum(1 for number in groups if number), sum(groups)
