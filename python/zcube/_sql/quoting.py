"""Turns names and values into SQL text, always quoted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def identifier(name: str) -> str:
    """Quote one part of a name: ``a`b`` becomes a backquoted ``a``b``."""
    return "`" + name.replace("`", "``") + "`"


def qualified(parts: Sequence[str]) -> str:
    """Quote the parts of a name, joined by dots."""
    return ".".join(identifier(part) for part in parts)


def column_list(columns: Sequence[Sequence[str]]) -> str:
    """Quote the names of columns, in parentheses.

    >>> column_list([["x"], ["a", "b"]])
    '(`x`, `a`.`b`)'
    """
    return f"({', '.join(qualified(parts) for parts in columns)})"


def folded(parts: Sequence[str]) -> tuple[str, ...]:
    """Return a key that is equal for names that Spark treats as equal, ignoring case."""
    return tuple(part.lower() for part in parts)


def literal(text: str) -> str:
    """Quote a string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def verbatim_literal(text: str) -> str:
    r"""Quote a string for a session in which backslashes are literal.

    Quotes can't be escaped there, so the string is split into adjacent literals with different
    quotes, which Spark concatenates.

    Raises:
        ZCubeError: the text ends with a backslash, which would escape the closing quote.

    >>> verbatim_literal("x = 'a'")
    '\'x = \' "\'a\'"'
    """
    literals: list[str] = []
    quote, inside = "'", ""
    # A backslash keeps the next character from ending the literal, and both are kept.
    for part in re.findall(r"\\.|.", text, re.DOTALL):
        if part == quote:
            literals.append(quote + inside + quote)
            quote, inside = ('"' if quote == "'" else "'"), ""
        inside += part
    if len(re.findall(r"\\*\Z", text)[0]) % 2:
        raise ZCubeError(
            f"With spark.sql.parser.escapedStringLiterals there is no literal for {text!r}, which "
            "ends with a backslash. Add a space after it."
        )
    return " ".join(
        literal for literal in [*literals, quote + inside + quote] if len(literal) > 2 or not text
    )


def options(pairs: Mapping[str, str | None], write: Callable[[str], str] = literal) -> str:
    """Write an OPTIONS clause, omitting keys without a value.

    Args:
        pairs: keys and values.
        write: turns them into literals, as the session reads literals; see ``writer``.

    >>> options({"curve": "hilbert", "maxBytes": None})
    "OPTIONS ('curve' = 'hilbert')"
    """
    given = [f"{write(k)} = {write(v)}" for k, v in pairs.items() if v is not None]
    return f"OPTIONS ({', '.join(given)})"


def writer(spark: SparkSession) -> Callable[[str], str]:
    """Return a function that quotes strings as this session reads literals in OPTIONS and queries.

    Delta always reads the literal of a path in one way: as ``literal`` writes it.
    """
    escaped = switch(spark, "spark.sql.parser.escapedStringLiterals", default=False)
    return verbatim_literal if escaped else literal


def switch(spark: SparkSession, key: str, *, default: bool) -> bool:
    """Return whether a setting is on; Spark also accepts ``TRUE``, and returns it unchanged."""
    return str(spark.conf.get(key, str(default))).strip().lower() == "true"


def weights(pairs: Sequence[tuple[Sequence[str], float]] | None) -> str | None:
    """Write column weights as the option ``weights`` takes them.

    >>> weights([(["a", "b"], 3.0)])
    '`a`.`b`=3.0'
    """
    if pairs is None:
        return None
    return ",".join(f"{qualified(parts)}={weight!r}" for parts, weight in pairs)


def name_parts(name: str) -> list[str]:
    """Split a name at its dots, outside backquotes.

    ``"a.b"`` is the field ``b`` of ``a``; ``"`a.b`"`` is one column with a dot in its name. All
    other characters belong to the name: ``"a) ; DROP"`` is one column. Backquotes quote only if a
    part begins and ends with them.

    Raises:
        ZCubeError: the name or one of its parts is empty.

    >>> name_parts("a.b"), name_parts("`a.b`.c"), name_parts("a) ; DROP")
    (['a', 'b'], ['a.b', 'c'], ['a) ; DROP'])
    """
    parts: list[str] = []
    at = 0
    while True:
        part, at = _next_part(name, at)
        if not part:
            raise ZCubeError(
                f"The name {name!r} has an empty part. Write a name as 'a', 'a.b' or '`a.b`'."
            )
        parts.append(part)
        if at >= len(name):
            return parts
        at += 1
        if at == len(name):
            raise ZCubeError(
                f"The name {name!r} ends with a dot. Put it in backquotes if that is intended."
            )


def _next_part(name: str, start: int) -> tuple[str, int]:
    """Return the part that begins at ``start``, and its end."""
    if start < len(name) and name[start] == "`":
        end = start + 1
        while end < len(name):
            if name[end] == "`":
                if name[end + 1 : end + 2] == "`":
                    end += 1
                elif end + 1 == len(name) or name[end + 1] == ".":
                    return name[start + 1 : end].replace("``", "`"), end + 1
                else:
                    break
            end += 1
    dot = name.find(".", start)
    end = len(name) if dot < 0 else dot
    return name[start:end], end
