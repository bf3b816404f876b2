"""Reads the filters that Spark pushes down to a scan, as its plans write them.

Spark doesn't quote names and strings there. So only what can mean one thing is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from zcube._sql import quoting

_COMPARISONS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}

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


def types_of(schema: str) -> dict[tuple[str, ...], str]:
    """Read ``struct<x:int,a:struct<b:decimal(12,2)>>``, in which names aren't quoted.

    Where a column's type isn't certain, it is left out.

    >>> types_of("struct<x:int,a:struct<b:decimal(12,2)>>")[("a", "b")]
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
        types |= {(name, *path): leaf for path, leaf in types_of(of_type).items()}
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


def are_several(text: str) -> bool:
    """Return whether a text looks like more than one filter."""
    return _BETWEEN.search(text) is not None


def split(text: str) -> list[str]:
    """Split a list of filters.

    >>> split("IsNotNull(x), EqualTo(x,5)")
    ['IsNotNull(x)', 'EqualTo(x,5)']
    """
    return [part for part in _BETWEEN.split(text) if part]


def kind(text: str) -> str:
    """Return the name of a logged filter.

    >>> kind("In(s, [a,b,c])"), kind("EqualTo(s,a), EqualTo(x,5)")
    ('In', 'several')
    """
    name = _OPENED.match(text)
    return name[1] if name and not are_several(text) else "several"


def predicate(
    text: str, types: Mapping[tuple[str, ...], str], zone: str | None = None
) -> str | None:
    """Write a data source filter as SQL; None if its meaning isn't certain.

    Args:
        text: the filter.
        types: of the columns.
        zone: the driver's time zone, in which Java wrote timestamps, if known.

    >>> predicate("Or(EqualTo(x,1),StringStartsWith(s,ab))", {("x",): "int", ("s",): "string"})
    "(`x` = CAST('1' AS int) OR startswith(`s`, 'ab'))"
    >>> predicate("EqualTo(s,a), LessThan(x,5)", {("x",): "int", ("s",): "string"})
    """
    try:
        reader = _Reader(text, types, zone)
        read = reader.filter()
        return read if reader.at == len(text) else None
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
