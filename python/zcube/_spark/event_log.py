"""Reads the predicates of past queries from Spark's event logs."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from urllib.parse import unquote, urlparse

from zcube._sql import quoting
from zcube.errors import ZCubeError

_COMPARISONS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_CODECS = (".lz4", ".lzf", ".snappy", ".zstd")


@dataclass
class ScanLog:
    """The scans of one table in an event log.

    Attributes:
        predicates: predicate → how many scans had it.
        scans: number of scans of the table, including those without a filter.
        unsupported: filters that couldn't be read → how many scans had them; the other filters
            of these scans still count.
        partition_filters: number of scans with filters on partition columns. These filters are
            ignored: clustering happens within partitions.
    """

    predicates: Counter[str] = field(default_factory=Counter)
    scans: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    partition_filters: int = 0


def read(path: Path, location: str, unpack: Callable[[Path], BinaryIO] | None = None) -> ScanLog:
    """Read an event log, or a folder of them.

    When a query starts, Spark logs each scan's location and the filters that are pushed down to it.
    This function reads these and not the plan's text, which is truncated.

    Args:
        path: a log as Spark wrote it, rolled or not.
        location: the table's folder.
        unpack: opens logs that Spark has compressed.

    Raises:
        ZCubeError: there is no log, or it is compressed and ``unpack`` is None.
    """
    if not path.exists():
        raise ZCubeError(f"There is no event log at {path}.")
    log = ScanLog()
    for file in _files(path):
        with _open(file, unpack) as lines:
            for event in _starts(lines):
                for metadata in _scans(event["sparkPlanInfo"]):
                    if _is_at(metadata.get("Location", ""), location):
                        _add(log, metadata)
    return log


def _files(path: Path) -> list[Path]:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [f for f in files if f.is_file() and not f.name.startswith((".", "appstatus_"))]


def _open(file: Path, unpack: Callable[[Path], BinaryIO] | None) -> TextIO:
    name = file.name.removesuffix(".inprogress")
    if name.endswith(".gz"):
        stream: Any = gzip.GzipFile(file)
    elif not name.endswith(_CODECS):
        stream = file.open("rb")
    elif unpack is not None:
        stream = unpack(file)
    else:
        raise ZCubeError(
            f"The event log {file.name} is compressed; Spark reads it, but not over Spark Connect. "
            "Unpack it first, or write logs with spark.eventLog.compress=false."
        )
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace")


def _starts(lines: TextIO) -> Iterator[dict[str, Any]]:
    for line in lines:
        # Logs are long, so this cheap check comes first. Updated adaptive plans are logged
        # separately and not read.
        if "SparkListenerSQLExecutionStart" in line:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a log that is being written


def _scans(plan: dict[str, Any]) -> Iterator[dict[str, str]]:
    if "PushedFilters" in plan.get("metadata", {}):
        yield plan["metadata"]
    for child in plan.get("children", []):
        yield from _scans(child)


def _is_at(logged: str, location: str) -> bool:
    """Return whether ``PreparedDeltaFileIndex(1 paths)[file:/data/events]`` is that folder."""
    paths = re.search(r"\[(.*?)[\],]", logged)
    return paths is not None and _folder(paths[1]) == _folder(location)


def _folder(location: str) -> str:
    uri = urlparse(location)
    if uri.scheme in ("", "file"):
        return str(Path(unquote(uri.path)).resolve())
    return location.rstrip("/")


def _types(schema: str) -> dict[str, str]:
    """Read ``struct<x:int,d:decimal(12,2)>``; the truncated end of a long one is left out."""
    fields = _split(schema.removeprefix("struct<").removesuffix(">"))
    return dict(part for field in fields if len(part := field.split(":", 1)) == 2)


def _add(log: ScanLog, metadata: dict[str, str]) -> None:
    log.scans += 1
    log.partition_filters += metadata.get("PartitionFilters", "[]") != "[]"
    types = _types(metadata.get("ReadSchema", ""))
    parts = []
    for part in _split(metadata["PushedFilters"].strip()[1:-1]):
        predicate = _predicate(part, types)
        if predicate is None:
            log.unsupported[part] += 1
        else:
            parts.append(predicate)
    if parts:
        log.predicates[" AND ".join(parts)] += 1


def _predicate(text: str, types: dict[str, str]) -> str | None:
    """Write a data source filter as SQL; None if its meaning isn't certain.

    >>> _predicate("Or(EqualTo(x,1),StringStartsWith(s,ab))", {"x": "int"})
    "(`x` = CAST('1' AS int) OR startswith(`s`, 'ab'))"
    """
    match = re.fullmatch(r"\*?(\w+)\((.*)\)", text.strip(), re.DOTALL)
    if match is None:
        return None
    name, inner = match.groups()
    arguments = _split(inner)
    if name in ("And", "Or") and len(arguments) == 2:
        left, right = (_predicate(argument, types) for argument in arguments)
        if left is None or right is None:
            return None
        return f"({left} {name.upper()} {right})"
    if name == "Not" and len(arguments) == 1:
        negated = _predicate(arguments[0], types)
        return None if negated is None else f"NOT ({negated})"
    column, comma, value = inner.partition(",")
    name_of_column = _column(column)
    if name in ("IsNull", "IsNotNull") and not comma:
        return f"{name_of_column} IS {'NOT ' if name == 'IsNotNull' else ''}NULL"
    if not comma:
        return None
    if name in _COMPARISONS:
        return f"{name_of_column} {_COMPARISONS[name]} {_value(value, types.get(column))}"
    if name == "StringStartsWith":
        return f"startswith({name_of_column}, {quoting.literal(value)})"
    if name == "In" and re.fullmatch(r"\s*\[.*\]", value, re.DOTALL):
        given = value.strip()[1:-1].split(",")
        # Spark puts no space after a comma, so a comma with a space is part of a string.
        if any(item != item.strip() or not item for item in given):
            return None
        values = ", ".join(_value(item, types.get(column)) for item in given)
        return f"{name_of_column} IN ({values})"
    return None


def _value(text: str, of_type: str | None) -> str:
    """Write a value in its column's type; a plain string would be compared in another type."""
    return (
        quoting.literal(text) if of_type is None else f"CAST({quoting.literal(text)} AS {of_type})"
    )


def _column(text: str) -> str:
    return quoting.qualified(quoting.name_parts(text.strip()))


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, sign in enumerate(text):
        depth += (sign in "([<") - (sign in ")]>")
        if sign == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts
