"""Columns, from the JSON of Delta's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from zcube._log import types
from zcube._sql import quoting

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
