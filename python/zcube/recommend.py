"""How a table should be clustered for the queries that it is asked."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from zcube import _format, _sql
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import Row

Queries = Sequence[str | tuple[str, float]] | Mapping[str, float]
"""SQL texts or predicates, each perhaps with its weight."""

_TITLES = ("", "curve", "files read", "bytes read", "of today's")


@dataclass(frozen=True)
class QueryReading:
    """What one query reads of the table.

    Attributes:
        query: as it was given.
        weight: how often it is asked.
        scans: of the table in the query; 0 if it wasn't understood.
        files_read: by all its scans, once.
        bytes_read: of these files.
        notes: what was not understood of it.
    """

    query: str
    weight: float
    scans: int
    files_read: int
    bytes_read: int
    notes: list[str]


@dataclass(frozen=True)
class Recommendation:
    """A layout, and what the queries would read of it.

    Attributes:
        columns: to cluster by; empty for the table as it is.
        curve: as ``optimize`` takes it; None for the table as it is.
        weights: of the columns, as ``optimize`` takes them; None if all are alike.
        files_read: by all queries, each as often as its weight says.
        bytes_read: of these files.
        share_of_today: bytes read, as a share of what is read of the table as it is.
        files: of the table.
        bytes_rewritten: by the run that would lay the table out; None for the table as it is.
        worthwhile: whether at least a tenth of the bytes would be saved.
        summary: in one sentence.
        statements: SQL to run, one after the other.
        queries: of each query that was understood; for the table as it is, of each query.
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
        today: the table as it is; its queries tell also what was not understood.
        layouts: at most ten; the first one is the recommendation.

    >>> advice = table.recommend(["SELECT * FROM t WHERE day = '2026-01-01'"])  # doctest: +SKIP
    >>> print(advice.best)  # doctest: +SKIP
    by (day), kdtree: reads 3.1 % of the bytes that it reads today; costs one rewrite of 4.1 GiB
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
        """What was not understood, each with the beginning of its query."""
        return [
            f"{_shortened(query.query)}: {note}"
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
                _format.number(round(layout.files_read, 2)),
                _format.size(round(layout.bytes_read)),
                f"{100 * layout.share_of_today:.1f} %",
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
        return "\n".join([*self._texts(), *_format.table(_TITLES, self._rows()), *notes])

    def _repr_html_(self) -> str:
        texts = "".join(f"<p>{html.escape(text)}</p>" for text in self._texts())
        notes = "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return texts + _format.html_table(_TITLES, self._rows()) + notes


def statement(table: str, queries: Queries, write: Callable[[str], str] = _sql.literal) -> str:
    """Write the RECOMMEND CLUSTERING statement; ``write`` makes literals.

    Raises:
        ZCubeError: there are no queries, or one is no text or has no weight greater than 0.

    >>> statement("t", ["x = 1", ("y > 2", 0.5)])
    "RECOMMEND CLUSTERING t FOR 'x = 1' WEIGHT 1.0, 'y > 2' WEIGHT 0.5"
    """
    if isinstance(queries, str):
        queries = [queries]
    pairs = list(queries.items()) if isinstance(queries, Mapping) else [_pair(q) for q in queries]
    if not pairs:
        raise ZCubeError("recommend needs at least one query, or predicate.")
    for text, weight in pairs:
        if not isinstance(text, str) or not text.strip():
            raise ZCubeError(f"A query must be SQL text, not {text!r}.")
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not 0 < weight < float("inf"):
            raise ZCubeError(f"The weight of a query must be greater than 0, not {weight!r}.")
    # As plain decimals: the grammar has no exponents.
    parts = [f"{write(text)} WEIGHT {_decimal(weight)}" for text, weight in pairs]
    return f"RECOMMEND CLUSTERING {table} FOR {', '.join(parts)}"


def split_statements(text: str) -> list[str | tuple[str, float]]:
    r"""Split the text of a file into queries, at semicolons outside of quotes and comments.

    A comment ``-- weight: 3`` above a query gives its weight.

    >>> split_statements("SELECT 1; -- weight: 2\nSELECT ';'")
    ['SELECT 1', ("SELECT ';'", 2.0)]
    """
    found: list[str | tuple[str, float]] = []
    sql: list[str] = []
    weight: float | None = None
    for part in [*_tokens(text), ";"]:
        comment = re.match(r"--\s*weight:\s*([0-9.]+)\s*$", part)
        if comment:
            weight = float(comment[1])
        elif part.startswith("--") or _opens_comment(part):
            sql.append(" ")
        elif part != ";":
            sql.append(part)
        else:
            query = "".join(sql).strip()
            if query:
                found.append(query if weight is None else (query, weight))
            sql, weight = [], None
    return found


_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\b[rR](?:'[^']*'|"[^"]*")|`[^`]*`"""
    r"""|--(?:\\\n|[^\n])*|.""",
    re.DOTALL,
)


def _tokens(text: str) -> Iterator[str]:
    """Texts, names and comments as Spark has them, and single characters."""
    at = 0
    while at < len(text):
        if _opens_comment(text, at):
            end = _end_of_comment(text, at)
        else:
            match = _TOKEN.match(text, at)
            assert match is not None
            end = match.end()
        yield text[at:end]
        at = end


def _opens_comment(text: str, at: int = 0) -> bool:
    return text.startswith("/*", at) and not text.startswith("/*+", at)


def _end_of_comment(text: str, start: int) -> int:
    """Comments may hold others; one that isn't closed goes to the end."""
    depth = 0
    for mark in re.compile(r"/\*(?!\+)|\*/").finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _pair(query: object) -> tuple[Any, Any]:
    if isinstance(query, tuple) and len(query) == 2:
        return query
    return query, 1.0


def _decimal(weight: float) -> str:
    return f"{weight:.12f}".rstrip("0") + ("0" if float(weight).is_integer() else "")


def _weights(weights: Mapping[str, float] | None) -> str:
    if not weights:
        return ""
    return " " + ", ".join(f"{column}={weight:g}" for column, weight in weights.items())


def _shortened(query: str) -> str:
    line = " ".join(query.split())
    return line if len(line) <= 40 else line[:39] + "…"
