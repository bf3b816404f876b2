"""Writes ZCube's SQL statements, and splits files into queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from zcube._sql import quoting
from zcube._sql.arguments import checked_weight
from zcube.errors import ZCubeError

Queries = Sequence[str | tuple[str, float]] | Mapping[str, float]
"""SQL queries or predicates, each optionally with a weight."""


Columns = Sequence[Sequence[str]]
"""The parts of each column's name."""


def optimize(
    table: str,
    zorder_by: Columns | None,
    options: Mapping[str, str | None],
    *,
    full: bool = False,
    dry_run: bool = False,
    write: Callable[[str], str] = quoting.literal,
) -> str:
    """Write the OPTIMIZE statement, without options that are None.

    >>> optimize("t", [["x"], ["a", "b"]], {"maxBytes": "10g", "curve": None}, dry_run=True)
    "OPTIMIZE t ZORDER BY (`x`, `a`.`b`) OPTIONS ('maxBytes' = '10g') DRY RUN"
    """
    clauses = [f"OPTIMIZE {table}"]
    if full:
        clauses.append("FULL")
    if zorder_by is not None:
        clauses.append(f"ZORDER BY {quoting.column_list(zorder_by)}")
    if any(value is not None for value in options.values()):
        clauses.append(quoting.options(options, write))
    if dry_run:
        clauses.append("DRY RUN")
    return " ".join(clauses)


def describe_clustering(
    table: str, columns: Columns | None = None, where: str | None = None
) -> str:
    """Write the DESCRIBE CLUSTERING statement.

    >>> describe_clustering("t", [["x"]], "day > 3")
    'DESCRIBE CLUSTERING t BY (`x`) WHERE day > 3'
    """
    by = "" if columns is None else f" BY {quoting.column_list(columns)}"
    return f"DESCRIBE CLUSTERING {table}{by}" + ("" if where is None else f" WHERE {where}")


def cluster_by(table: str, columns: Columns | None) -> str:
    """Write ALTER TABLE … CLUSTER BY; None removes the columns.

    >>> cluster_by("t", None)
    'ALTER TABLE t CLUSTER BY NONE'
    """
    by = "NONE" if columns is None else quoting.column_list(columns)
    return f"ALTER TABLE {table} CLUSTER BY {by}"


def recommend(table: str, queries: Queries, write: Callable[[str], str] = quoting.literal) -> str:
    """Write the RECOMMEND CLUSTERING statement; ``write`` quotes literals.

    Raises:
        ZCubeError: there are no queries, or one is not a string or has no weight greater than 0.

    >>> recommend("t", ["x = 1", ("y > 2", 0.5)])
    "RECOMMEND CLUSTERING t FOR 'x = 1' WEIGHT 1.0, 'y > 2' WEIGHT 0.5"
    """
    if isinstance(queries, str):
        queries = [queries]
    if not isinstance(queries, Iterable):
        raise ZCubeError(f"recommend needs a list of queries or a dict, not {queries!r}.")
    pairs = list(queries.items()) if isinstance(queries, Mapping) else [_pair(q) for q in queries]
    if not pairs:
        raise ZCubeError("recommend needs at least one query, or predicate.")
    for text, weight in pairs:
        if not isinstance(text, str) or not text.strip():
            raise ZCubeError(f"A query must be SQL text, not {text!r}.")
        checked_weight(weight, f"the query {text!r}")
    # Plain decimals, because the grammar has no exponents.
    parts = [f"{write(text)} WEIGHT {_decimal(weight)}" for text, weight in pairs]
    return f"RECOMMEND CLUSTERING {table} FOR {', '.join(parts)}"


# Other comments may begin with the word.
WEIGHT = re.compile(r"--\s*weight:\s*([-+.\d].*?)\s*$", re.IGNORECASE)
"""A comment that sets the weight of the query below it, in a file of queries."""


def split_statements(text: str) -> list[str | tuple[str, float]]:
    r"""Split the text of a file into queries, at semicolons outside quotes and comments.

    A comment ``-- weight: 3`` above a query sets its weight.

    Raises:
        ZCubeError: a weight is not a number greater than 0, or a query has two.

    >>> split_statements("SELECT 1; -- weight: 2\nSELECT ';'")
    ['SELECT 1', ("SELECT ';'", 2.0)]
    """
    found: list[str | tuple[str, float]] = []
    sql: list[str] = []
    weight: float | None = None
    for part in [*_tokens(text), ";"]:
        comment = WEIGHT.match(part)
        if comment:
            if weight is not None:
                raise ZCubeError(
                    f"A query has two weights: the comment {part.strip()!r} follows one with the "
                    f"weight {weight:g}. Keep one of them."
                )
            weight = _weight(comment[1])
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
    """Yield Spark's strings, quoted names and comments, and otherwise single characters."""
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
    """Comments may be nested; an unclosed comment extends to the end."""
    depth = 0
    for mark in re.compile(r"/\*(?!\+)|\*/").finditer(text, start):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def _pair(query: object) -> tuple[Any, Any]:
    if isinstance(query, (tuple, list)) and len(query) == 2:
        return query[0], query[1]
    return query, 1.0


def _weight(text: str) -> float:
    try:
        weight: object = float(text)
    except ValueError:
        weight = text
    return checked_weight(weight, "a query, in a comment '-- weight: …',")


def _decimal(weight: float) -> str:
    """Write a number without an exponent, exactly.

    >>> _decimal(1e-13), _decimal(3), _decimal(2.5)
    ('0.0000000000001', '3.0', '2.5')
    """
    text = f"{Decimal(repr(float(weight))):f}"
    return text if "." in text else f"{text}.0"
