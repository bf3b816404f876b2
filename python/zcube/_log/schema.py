"""Columns, from the JSON of Delta's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from zcube._log import types
from zcube._log.conditions import COLUMN_NOT_FOUND
from zcube._sql import quoting
from zcube.errors import ColumnNotFoundError

# Delta keeps statistics of the first 32 leaf columns, unless the table's properties say otherwise.
INDEXED = 32


def quoted(parts: Sequence[str]) -> str:
    """Write a name as Spark shows it, with backquotes only where necessary."""
    return ".".join(
        part if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", part) else quoting.identifier(part)
        for part in parts
    )


def is_struct(data_type: Any) -> bool:
    """Return whether a type in Delta's schema is a struct."""
    return isinstance(data_type, dict) and data_type.get("type") == "struct"


def fields_of(schema: Any, parts: Sequence[str], table: str, *, exact: bool = False) -> list[Any]:
    """Return the fields on the way to a column: the first of each name, ignoring case.

    Args:
        schema: Delta's or Spark's, as JSON.
        parts: of the column's name.
        table: its name, for the error.
        exact: whether case matters.

    Raises:
        ColumnNotFoundError: there is none.
    """
    found = []
    within = schema
    for part in parts:
        fields = within["fields"] if is_struct(within) else []
        field = next(
            (
                field
                for field in fields
                if field["name"] == part or (not exact and field["name"].lower() == part.lower())
            ),
            None,
        )
        if field is None:
            known = ", ".join(quoted([field["name"]]) for field in schema["fields"])
            raise ColumnNotFoundError(
                COLUMN_NOT_FOUND.message(column=quoted(parts), table=table, known=known)
            )
        found.append(field)
        within = field["type"]
    return found


def columns_with_minimum(schema: Any, partitions: Sequence[str]) -> list[str]:
    """Return the columns for which Delta keeps minima by default.

    Args:
        schema: Delta's or Spark's, as JSON.
        partitions: the partition columns, which have values and no minima.
    """
    indexed = [leaf for leaf in leaves(schema) if leaf[0][0] not in partitions][:INDEXED]
    return [
        quoted(parts)
        for parts, field in indexed
        if types.has_minimum(field["type"]) and not field.get("metadata", {}).get("__COLLATIONS")
    ]


def leaves(struct: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the name parts and the field of each column, and of each leaf of a nested one."""
    for field in struct["fields"]:
        parts = (*above, field["name"])
        if is_struct(field["type"]):
            yield from leaves(field["type"], parts)
        else:
            yield parts, field
