"""How to cluster a table for the queries on it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from zcube.results import formatting

if TYPE_CHECKING:
    from pyspark.sql import Row

_TITLES = ("", "curve", "files read", "bytes read", "of today's")


@dataclass(frozen=True)
class QueryReading:
    """What one query reads of the table.

    Attributes:
        query: as given.
        weight: how often it runs.
        scans: number of scans of the table in the query; 0 if the query is unsupported.
        files_read: number of files that each of its scans reads, added up.
        bytes_read: of these files.
        notes: the unsupported parts, and that a scan which a LIMIT ends early isn't counted.
    """

    query: str
    weight: float
    scans: int
    files_read: int
    bytes_read: int
    notes: list[str]


@dataclass(frozen=True)
class Recommendation:
    """A layout, and what the queries would read with it.

    Attributes:
        columns: to cluster by; empty for the table as it is.
        curve: as ``optimize`` takes it; None for the table as it is.
        weights: of the columns, as ``optimize`` takes them; None if all are equal.
        files_read: by all queries, weighted.
        bytes_read: of these files.
        share_of_today: bytes read, as a share of what the queries read from the table as it is.
        files: number of files in the table.
        bytes_rewritten: by the run that would create the layout; None for the table as it is.
        worthwhile: whether at least a tenth of the bytes would be saved.
        summary: one sentence.
        statements: SQL statements to run in order.
        queries: details of each supported query; for the table as it is, of all queries.
    """

    columns: list[str]
    curve: str | None
    weights: dict[str, float] | None
    files_read: float
    bytes_read: float
    share_of_today: float
    files: int
    bytes_rewritten: int | None
    worthwhile: bool
    summary: str
    statements: list[str]
    queries: list[QueryReading]

    @classmethod
    def from_row(cls, row: Row) -> Recommendation:
        """Read a row of RECOMMEND CLUSTERING."""
        values = row.asDict(recursive=True)
        del values["rank"]
        queries = [QueryReading(**query) for query in values.pop("queries")]
        columns, weights = values.pop("columns") or [], values.pop("weights") or None
        return cls(**values, columns=columns, weights=weights, queries=queries)

    def __str__(self) -> str:
        return self.summary


@dataclass(frozen=True)
class Recommendations:
    """The layouts that ``ClusteredTable.recommend`` tried, the best first.

    Attributes:
        today: the table as it is; its queries include notes on what is unsupported.
        layouts: at most ten; the first one is the recommendation.

    Examples:
        >>> advice = table.recommend(["SELECT * FROM t WHERE day = '2026-01-01'"])  # doctest: +SKIP
        >>> print(advice.best)  # doctest: +SKIP
        by (day), kdtree: reads 3.1 % of the bytes that it reads today; costs one rewrite of
        4.1 GiB
    """

    today: Recommendation
    layouts: list[Recommendation]

    @classmethod
    def from_rows(cls, rows: Sequence[Row]) -> Recommendations:
        """Read the rows of RECOMMEND CLUSTERING."""
        today, *layouts = map(Recommendation.from_row, sorted(rows, key=lambda row: row["rank"]))
        return cls(today, layouts)

    @property
    def best(self) -> Recommendation | None:
        """The first of the layouts; None if clustering isn't worth it."""
        return next((layout for layout in self.layouts if layout.worthwhile), None)

    @property
    def notes(self) -> list[str]:
        """What is unsupported, with the beginning of each query."""
        return [
            f"{formatting.shorten(' '.join(query.query.split()))}: {note}"
            for query in self.today.queries
            for note in query.notes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"worthwhile": self.best is not None}

    def _rows(self) -> list[list[str]]:
        return [
            [
                ", ".join(layout.columns) or "as it is",
                (layout.curve or "–") + _weights(layout.weights),
                formatting.number(round(layout.files_read, 2)),
                formatting.size(round(layout.bytes_read)),
                formatting.share(layout.share_of_today),
            ]
            for layout in (self.today, *self.layouts)
        ]

    def _texts(self) -> list[str]:
        first = self.best
        if first is None:
            return [self.today.summary]
        return [first.summary, *(f"  {statement};" for statement in first.statements)]

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([*self._texts(), *formatting.table(_TITLES, self._rows()), *notes])

    def _repr_html_(self) -> str:
        texts = "".join(f"<p>{html.escape(text)}</p>" for text in self._texts())
        notes = "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return texts + formatting.html_table(_TITLES, self._rows()) + notes


def _weights(weights: Mapping[str, float] | None) -> str:
    if not weights:
        return ""
    return " " + ", ".join(f"{column}={weight:g}" for column, weight in weights.items())
