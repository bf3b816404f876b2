"""Reads the predicates of past queries from Spark's event logs."""

from __future__ import annotations

import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from zoneinfo import ZoneInfo

from zcube._sql import quoting
from zcube._uris import canonical, local_path
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
_COMPACT = ".compact"
_NOT_NULL = re.compile(r"isnotnull\([^()]*\)")
# Of a rolled log: its number, and the application.
_ROLLED = re.compile(r"events_(\d+)_([^.]*)")

_OTHER_FILTERS = ("And", "Or", "Not", "In", "IsNull", "IsNotNull", "AlwaysTrue", "AlwaysFalse")
_NAMES = "|".join(
    rf"(?:Collated)?{name}" for name in (*_COMPARISONS, *_OTHER_FILTERS, r"String\w+")
)
# Spark doesn't quote strings, so only what stands on both sides tells where a filter ends.
_BETWEEN = re.compile(rf"(?<=\)), (?=\*?(?:{_NAMES})\()")
_OPENED = re.compile(r"\*?(\w+)\(")
_PART = r"(?:`(?:[^`]|``)+`|[^`,()\[\].]+)"
_COLUMN = re.compile(rf"{_PART}(?:\.{_PART})*")
# A bracket may be the string's or the filter's.
_VALUE = re.compile(r"[^()\[\]]*")
_ITEMS = re.compile(r", \[([^()\[\]]*)\]")
# Spark's name of a value that it doesn't know before the query runs.
_SUBQUERY = re.compile(r"(?:scalar-?)?subquery#\d+", re.IGNORECASE)

# How Java writes values of each type; of others, such as binary, the log has no value.
_WRITTEN = {
    "tinyint": r"-?\d+",
    "smallint": r"-?\d+",
    "int": r"-?\d+",
    "bigint": r"-?\d+",
    "decimal": r"-?\d+(\.\d+)?(E[+-]?\d+)?",
    "float": r"-?\d+\.\d+(E-?\d+)?|NaN|-?Infinity",
    "double": r"-?\d+\.\d+(E-?\d+)?|NaN|-?Infinity",
    "boolean": r"true|false",
    "date": r"\d{4}-\d\d-\d\d",
    "timestamp_ntz": r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?",
    "string": r"(?s:.*)",
}
# With spark.sql.datetime.java8API.enabled.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
_LOCAL_TIME = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(\.\d{1,9})")

# Of Java's own zones with a fixed offset; unlike in Etc/GMT+2, + is east of Greenwich.
_OFFSET = re.compile(r"GMT([+-])([01]?\d|2[0-3])(?::([0-5]\d))?")


class _UncertainError(Exception):
    """What a logged filter means isn't certain."""


@dataclass
class ScanLog:
    """The scans of one table in an event log.

    Attributes:
        predicates: predicate → how many scans had it. A scan counts only if it has a filter besides
            IS NOT NULL, or if this is all that it has.
        scans: number of scans of the table, including those without a filter.
        unsupported: filters that couldn't be read → how many scans had them; the other filters
            of these scans still count.
        partition_filters: number of scans with filters on partition columns. These filters are
            ignored: clustering happens within partitions.
        elsewhere: other locations that were scanned → number of their scans.
    """

    predicates: Counter[str] = field(default_factory=Counter)
    scans: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    partition_filters: int = 0
    elsewhere: Counter[str] = field(default_factory=Counter)


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
    # The first file of a rolled log describes the driver.
    zones: dict[tuple[str, ...], str | None] = {}
    for file in _files(path):
        application = _position(file)[0]
        with _open(file, unpack) as lines:
            for event in _events(lines):
                if "System Properties" in event:
                    zones[application] = event["System Properties"].get("user.timezone")
                for metadata in _scans(event.get("sparkPlanInfo", {})):
                    found = _location(metadata.get("Location", ""))
                    if found is not None and _folder(found) == _folder(location):
                        _add(log, metadata, zones.get(application))
                    # Delta scans its own logs, too.
                    elif found is not None and "/_delta_log" not in found:
                        log.elsewhere[found] += 1
    return log


def _files(path: Path) -> list[Path]:
    files = path.rglob("*") if path.is_dir() else [path]
    events = [f for f in files if f.is_file() and not f.name.startswith((".", "appstatus_"))]
    # A history server that is compacting, or was killed meanwhile, has written a part of it.
    events = [f for f in events if not f.name.endswith(f"{_COMPACT}.inprogress")]
    # A compact file replaces the files up to its number.
    first: dict[tuple[str, ...], int] = {}
    for file in events:
        application, number = _position(file)
        if file.name.endswith(_COMPACT):
            first[application] = max(number, first.get(application, number))
    return sorted((file for file in events if not _is_replaced(file, first)), key=_position)


def _is_replaced(file: Path, first: Mapping[tuple[str, ...], int]) -> bool:
    application, number = _position(file)
    if application not in first:
        return False
    start = first[application]
    return number < start or (number == start and not file.name.endswith(_COMPACT))


def _position(file: Path) -> tuple[tuple[str, ...], int]:
    """Return what is the same for all files of an application, and the file's number in it."""
    rolled = _ROLLED.match(file.name)
    if rolled:
        return (str(file.parent), rolled[2]), int(rolled[1])
    return (str(file),), 0


def _open(file: Path, unpack: Callable[[Path], BinaryIO] | None) -> TextIO:
    name = file.name.removesuffix(_COMPACT).removesuffix(".inprogress")
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


def _events(lines: TextIO) -> Iterator[dict[str, Any]]:
    """Yield the beginnings of queries, and descriptions of the driver."""
    for line in lines:
        # Logs are long, so this cheap check comes first. Updated adaptive plans are logged
        # separately and not read.
        if "SparkListenerSQLExecutionStart" in line or "SparkListenerEnvironmentUpdate" in line:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a log that is being written


def _scans(plan: dict[str, Any]) -> Iterator[dict[str, str]]:
    if "PushedFilters" in plan.get("metadata", {}):
        yield plan["metadata"]
    for child in plan.get("children", []):
        yield from _scans(child)


def _location(logged: str) -> str | None:
    """Return the folder of ``PreparedDeltaFileIndex(1 paths)[file:/data/events]``."""
    path = re.fullmatch(r"\w*\(1 paths\)\[(.*)\]", logged, re.DOTALL)
    return path and path[1]


def _folder(location: str) -> str:
    """Return a comparable form of a Hadoop path."""
    path = local_path(location)
    return canonical(location) if path is None else str(path.resolve())


def _types(schema: str) -> dict[tuple[str, ...], str]:
    """Read ``struct<x:int,a:struct<b:decimal(12,2)>>``, in which names aren't quoted.

    Where a column's type isn't certain, it is left out.

    >>> _types("struct<x:int,a:struct<b:decimal(12,2)>>")[("a", "b")]
    'decimal(12,2)'
    """
    types: dict[tuple[str, ...], str] = {}
    if not re.fullmatch(r"struct<.*>", schema, re.DOTALL):
        return types
    for field_text in _fields(schema[len("struct<") : -1]):
        name, colon, of_type = field_text.partition(":")
        if not colon:
            continue  # the first half of a name with a comma, or the end of a truncated schema
        if (name,) in types:
            return {}
        types[name,] = of_type
        types |= {(name, *path): leaf for path, leaf in _types(of_type).items()}
    return types


def _fields(text: str) -> Iterator[str]:
    """Split at commas outside brackets."""
    depth = start = 0
    for i, sign in enumerate(text):
        depth += (sign in "(<") - (sign in ")>")
        if sign == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    yield text[start:]


def _add(log: ScanLog, metadata: dict[str, str], zone: str | None) -> None:
    log.scans += 1
    log.partition_filters += metadata.get("PartitionFilters", "[]") != "[]"
    types = _types(metadata.get("ReadSchema", ""))
    text = metadata["PushedFilters"].strip()[1:-1]
    # Here, Spark writes filters in another way, so this is inside a string.
    if _BETWEEN.search(metadata.get("DataFilters", "")):
        log.unsupported[text] += 1
        return
    parts, lost, selects = [], False, False
    for part in filter(None, _BETWEEN.split(text)):
        predicate = _predicate(part, types, zone)
        if predicate is None:
            log.unsupported[part] += 1
            lost = True
        else:
            parts.append(predicate)
            selects = selects or filter_kind(part) != "IsNotNull"
    # Spark adds IS NOT NULL to each comparison and to each key of a join. Alone it hardly ever
    # selects, and a condition that Spark can't push down is only in the data filters.
    if selects:
        log.predicates[" AND ".join(parts)] += 1
    elif not lost:
        data = metadata.get("DataFilters", "").strip()[1:-1]
        if _NOT_NULL.sub("", data).strip(", "):
            log.unsupported[data] += 1


def filter_kind(text: str) -> str:
    """Return the name of a logged filter.

    >>> filter_kind("In(s, [a,b,c])"), filter_kind("EqualTo(s,a), EqualTo(x,5)")
    ('In', 'several')
    """
    name = _OPENED.match(text)
    return name[1] if name and not _BETWEEN.search(text) else "several"


def _predicate(
    text: str, types: Mapping[tuple[str, ...], str], zone: str | None = None
) -> str | None:
    """Write a data source filter as SQL; None if its meaning isn't certain.

    Args:
        text: the filter.
        types: of the columns.
        zone: the driver's time zone, in which Java wrote timestamps, if known.

    >>> _predicate("Or(EqualTo(x,1),StringStartsWith(s,ab))", {("x",): "int", ("s",): "string"})
    "(`x` = CAST('1' AS int) OR startswith(`s`, 'ab'))"
    >>> _predicate("EqualTo(s,a), LessThan(x,5)", {("x",): "int", ("s",): "string"})
    """
    try:
        reader = _Reader(text, types, zone)
        predicate = reader.filter()
        return predicate if reader.at == len(text) else None
    except _UncertainError:
        return None


class _Reader:
    """Reads one filter; ``at`` is the end of what was read."""

    def __init__(self, text: str, types: Mapping[tuple[str, ...], str], zone: str | None) -> None:
        self._text = text
        self._types = types
        self._zone = zone
        self.at = 0

    def filter(self) -> str:
        """Read a filter.

        Raises:
            _UncertainError: it isn't certain what it means.
        """
        name = self._next(_OPENED)[1]
        predicate = self._arguments(name)
        self._expect(")")
        return predicate

    def _arguments(self, name: str) -> str:
        if name in ("And", "Or"):
            left = self.filter()
            self._expect(",")
            return f"({left} {name.upper()} {self.filter()})"
        if name == "Not":
            return f"NOT ({self.filter()})"
        column = quoting.name_parts(self._next(_COLUMN)[0])
        quoted = quoting.qualified(column)
        if name in ("IsNull", "IsNotNull"):
            return f"{quoted} IS {'NOT ' if name == 'IsNotNull' else ''}NULL"
        of_type = self._types.get(tuple(column), "")
        if name == "In":
            given = self._items(of_type)
            return f"{quoted} IN ({', '.join(self._value(item, of_type) for item in given)})"
        if name not in _COMPARISONS and name != "StringStartsWith":
            raise _UncertainError
        self._expect(",")
        value = self._value(self._next(_VALUE)[0], of_type)
        if name == "StringStartsWith":
            return f"startswith({quoted}, {value})"
        return f"{quoted} {_COMPARISONS[name]} {value}"

    def _items(self, of_type: str) -> list[str]:
        given = self._next(_ITEMS)[1].split(",")
        # Of strings, a comma may be part of one. But Spark makes a list of one value an equality,
        # so a single comma stands between two.
        if of_type == "string" and (len(given) != 2 or "null" in given or given[0] == given[1]):
            raise _UncertainError
        return given

    def _value(self, text: str, of_type: str) -> str:
        if of_type == "timestamp":
            text = text if _INSTANT.fullmatch(text) else _in_utc(text, self._zone)
        elif not re.fullmatch(_WRITTEN.get(of_type.partition("(")[0], "(?!)"), text):
            raise _UncertainError
        if _SUBQUERY.fullmatch(text):
            raise _UncertainError
        # A plain string would be compared in another type.
        literal = quoting.literal(text)
        return literal if of_type == "string" else f"CAST({literal} AS {of_type})"

    def _next(self, expected: re.Pattern[str]) -> re.Match[str]:
        match = expected.match(self._text, self.at)
        if match is None:
            raise _UncertainError
        self.at = match.end()
        return match

    def _expect(self, sign: str) -> None:
        if not self._text.startswith(sign, self.at):
            raise _UncertainError
        self.at += len(sign)


def _in_utc(text: str, zone: str | None) -> str:
    """Return a time as Java's Timestamp writes it, in the driver's time zone, with its zone.

    Raises:
        _UncertainError: the zone is unknown, or the local time occurred twice or never.

    >>> _in_utc("2026-01-05 00:00:00.5", "Europe/Berlin")
    '2026-01-04 23:00:00.5Z'
    """
    match = _LOCAL_TIME.fullmatch(text)
    if match is None or not zone:
        raise _UncertainError
    try:
        local = datetime.fromisoformat(match[1]).replace(tzinfo=_zone(zone))
        before, after = local.utcoffset(), local.replace(fold=1).utcoffset()
        if before is None or before != after:
            raise _UncertainError
        return f"{(local - before).replace(tzinfo=None)}{match[2]}Z"
    except (LookupError, ValueError, OverflowError, OSError):
        raise _UncertainError from None


def _zone(name: str) -> tzinfo:
    """Return a zone that Java names; those with a fixed offset need no database of time zones."""
    if name in ("UTC", "Etc/UTC", "GMT", "Z"):
        return timezone.utc
    offset = _OFFSET.fullmatch(name)
    if offset is None:
        return ZoneInfo(name)
    away = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
    return timezone(-away if offset[1] == "-" else away)
