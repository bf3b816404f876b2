"""Columns and their types, from the JSON of Delta's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from zcube._sql import quoting

# Delta keeps statistics of the first 32 leaf columns, unless the table's properties say otherwise.
INDEXED = 32
INTEGERS = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_DATES = {"date", "timestamp", "timestamp_ntz"}


def kind_of(data_type: str) -> str:
    """Return the kind of axis for a type: number, date, text, or none if it has no minima."""
    if data_type in {*INTEGERS, "float", "double"} or data_type.startswith("decimal("):
        return "number"
    if data_type in _DATES:
        return "date"
    return "text" if data_type == "string" else "none"


def quoted(parts: Sequence[str]) -> str:
    """Write a name as Spark shows it, with backquotes only where necessary."""
    return ".".join(
        part if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", part) else quoting.identifier(part)
        for part in parts
    )


def leaves(data_type: Any) -> int:
    """Count the columns and the fields of nested ones."""
    return sum(leaves(one["type"]) for one in data_type["fields"]) if is_struct(data_type) else 1


def is_struct(data_type: Any) -> bool:
    """Return whether a type in Delta's schema is a struct."""
    return isinstance(data_type, dict) and data_type.get("type") == "struct"


def columns_with_minimum(schema: Any, partitions: Sequence[str]) -> list[str]:
    """Return the columns for which Delta keeps minima by default.

    Args:
        schema: Delta's or Spark's, as JSON.
        partitions: the partition columns, which have values and no minima.
    """
    leaves = [leaf for leaf in _leaves(schema, ()) if leaf[0][0] not in partitions][:INDEXED]
    return [
        quoted(parts)
        for parts, data_type in leaves
        if isinstance(data_type, str) and kind_of(data_type) != "none"
    ]


def _leaves(struct: Any, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for field in struct["fields"]:
        parts = (*above, field["name"])
        if is_struct(field["type"]):
            yield from _leaves(field["type"], parts)
        elif not field.get("metadata", {}).get("__COLLATIONS"):
            yield parts, field["type"]
