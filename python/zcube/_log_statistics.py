"""Statistics of a table's files, from the JSON text in its log."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zcube import _sql
from zcube._file_boxes import MICROS_OF_A_DAY
from zcube._layout_quality import FileRanges
from zcube._log_actions import LoggedFile, NotServedError
from zcube.errors import ColumnNotFoundError

_INTEGERS = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_DATES = {"date", "timestamp", "timestamp_ntz"}
# Delta reads no minimum of these, whoever wrote one.
_WITHOUT_MINIMUM = {"boolean", "binary"}
_ODD_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
# Enough digits for any DECIMAL of Spark's, so that nothing is rounded.
_EXACTLY = Context(prec=100)
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class LogColumn:
    """A column, or a leaf of a nested one.

    Attributes:
        parts: of its name, as the table has them.
        type: as Delta's schema has it.
    """

    parts: tuple[str, ...]
    type: str

    @property
    def name(self) -> str:
        """As one text, parts quoted where they must be."""
        return quoted(self.parts)

    @property
    def sql_type(self) -> str:
        """In SQL's words."""
        return _INTEGERS.get(self.type, self.type)

    @property
    def kind(self) -> str:
        """What kind of axis it makes."""
        if self.type in {*_INTEGERS, "float", "double"} or self.type.startswith("decimal("):
            return "number"
        if self.type in _DATES:
            return "date"
        return "text" if self.type == "string" else "none"


class LogStatistics:
    """Minima, maxima and counts of a table's files.

    Args:
        files: the add actions.
        schema: Delta's.
        partitions: the partition columns.
    """

    def __init__(self, files: Sequence[LoggedFile], schema: Any, partitions: Sequence[str]) -> None:
        self._schema = schema
        self._partitions = partitions
        # As Delta reads JSON: what a double can't hold may still be a DECIMAL.
        self._parsed = [
            json.loads(file.statistics, parse_float=Decimal) if file.statistics else {}
            for file in files
        ]

    def find(self, parts: Sequence[str], *, exact: bool = False) -> LogColumn:
        """Return the first column of that name, in any case, as Spark finds it.

        Raises:
            ColumnNotFoundError: there is none.
            NotServedError: it is a partition column, or of a type that only Spark compares.
        """
        within: Any = self._schema
        found = []
        for part in parts:
            fields = within["fields"] if is_struct(within) else []
            same = [
                one
                for one in fields
                if one["name"] == part or (not exact and one["name"].lower() == part.lower())
            ]
            if not same:
                known = ", ".join(one["name"] for one in self._schema["fields"])
                raise ColumnNotFoundError(
                    f"[ZCUBE_COLUMN_NOT_FOUND] There is no column {quoted(parts)}. Name "
                    f"one of the table's columns, or a leaf of a nested one: {known}."
                )
            found.append(same[0]["name"])
            within = same[0]["type"]
            if same[0].get("metadata", {}).get("__COLLATIONS"):
                raise NotServedError("a collated column")
        if found[0] in self._partitions:
            raise NotServedError("a partition column")
        if not isinstance(within, str):
            raise NotServedError(f"{'.'.join(found)} is no single value")
        column = LogColumn(tuple(found), within)
        if column.kind == "none" and within not in _WITHOUT_MINIMUM:
            raise NotServedError(f"a column of type {within}")
        return column

    def ranges(self, column: LogColumn) -> tuple[FileRanges, str]:
        """Return the files' intervals in a column, and what to know of them in plain words."""
        low, high = self._ends(column)
        only_nulls = np.array(
            [
                a is None and b is None and nulls is not None and nulls == one.get("numRecords")
                for a, b, nulls, one in zip(
                    low, high, self._given("nullCount", column), self._parsed, strict=True
                )
            ],
            np.bool_,
        )
        no_low = np.array([value is None for value in low], np.bool_)
        no_high = np.array([value is None for value in high], np.bool_)
        given = ~no_low & ~no_high
        ranges = FileRanges.of(_keys(low, column), _keys(high, column), given, only_nulls)
        counts = [
            (int((no_low & ~only_nulls).sum()), "have no minimum"),
            (int((~no_low & no_high).sum()), "have no maximum"),
            (int((given & ~ranges.known).sum()), "have a maximum below their minimum"),
            (int(only_nulls.sum()), "hold only NULLs and overlap nothing"),
        ]
        files = f"of {len(given)} files"
        notes = [f"{column.name}: {count} {files} {what}" for count, what in counts if count]
        return ranges, "; ".join(notes)

    def numbers(self, column: LogColumn) -> list[tuple[Any, Any]]:
        """Return minima and maxima in the units of an axis."""
        scale: Callable[[Any], Any] = float
        if column.kind == "text":
            scale = str
        elif column.type.startswith("timestamp"):
            scale = _days
        low, high = (
            [None if value is None else scale(value) for value in values]
            for values in self._ends(column)
        )
        return list(zip(low, high, strict=True))

    def _ends(self, column: LogColumn) -> tuple[list[Any], list[Any]]:
        if column.kind == "none":
            return [None] * len(self._parsed), [None] * len(self._parsed)
        read = _reader(column)
        low, high = (
            [None if value is None else read(value) for value in self._given(part, column)]
            for part in ("minValues", "maxValues")
        )
        return low, high

    def _given(self, part: str, column: LogColumn) -> list[Any]:
        """What the files have of it, None where they have nothing."""
        found = []
        for one in self._parsed:
            value = one.get(part)
            for name in column.parts:
                if value is not None and not isinstance(value, dict):
                    raise NotServedError(f"odd statistics of {column.name}")
                value = None if value is None else value.get(name)
            found.append(value)
        return found


def quoted(parts: Sequence[str]) -> str:
    """Write a name as Spark shows it, with backquotes only where they must be."""
    return ".".join(
        part if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", part) else _sql.identifier(part)
        for part in parts
    )


def leaves(data_type: Any) -> int:
    """Count the columns and leaves of nested ones."""
    return sum(leaves(one["type"]) for one in data_type["fields"]) if is_struct(data_type) else 1


def is_struct(data_type: Any) -> bool:
    """Whether a type of Delta's schema is a struct."""
    return isinstance(data_type, dict) and data_type.get("type") == "struct"


def _reader(column: LogColumn) -> Callable[[Any], Any]:
    """How a value of a type is written; whatever isn't written so, Spark must say what it is."""

    def odd(value: Any) -> NotServedError:
        return NotServedError(
            f"{column.name} has the statistic {value!r}, which is no {column.type}"
        )

    def integer(value: Any) -> int:
        least = -(2 ** (_BITS[column.type] - 1))
        if type(value) is not int or not least <= value < -least:
            raise odd(value)
        return value

    def number(value: Any) -> float:
        if isinstance(value, str) and value in _ODD_NUMBERS:
            return _ODD_NUMBERS[value]
        if type(value) not in (int, Decimal):
            raise odd(value)
        found = float(value)
        return float(np.float32(found)) if column.type == "float" else found

    def decimal(value: Any) -> Decimal:
        precision, scale = map(int, column.type[len("decimal(") : -1].split(","))
        if type(value) not in (int, Decimal):
            raise odd(value)
        _, digits, exponent = Decimal(value).normalize(_EXACTLY).as_tuple()
        if (
            not isinstance(exponent, int)
            or -exponent > scale
            or len(digits) + exponent + scale > precision
        ):
            raise odd(value)
        return Decimal(value)

    def instant(value: Any) -> int:
        if not isinstance(value, str) or not _WRITTEN.fullmatch(value):
            raise odd(value)
        try:
            if column.type == "date":
                return (date.fromisoformat(value) - _EPOCH.date()).days
            found = datetime.fromisoformat(re.sub(r"Z$", "+00:00", value))
        except ValueError as error:
            raise odd(value) from error
        # Without a zone, or with one too many, it depends on the session what it means.
        if (found.tzinfo is None) != (column.type == "timestamp_ntz"):
            raise odd(value)
        if found.tzinfo is not None:
            found = found.astimezone(timezone.utc).replace(tzinfo=None)
        return (found - _EPOCH) // timedelta(microseconds=1)

    def text(value: Any) -> str:
        if not isinstance(value, str):
            raise odd(value)
        return value

    if column.type in _INTEGERS:
        return integer
    if column.type in ("float", "double"):
        return number
    if column.kind == "number":
        return decimal
    return instant if column.kind == "date" else text


def _keys(values: Sequence[Any], column: LogColumn) -> NDArray[Any]:
    """Values that numpy compares as Delta orders them; anything where there is none."""
    if column.type in ("float", "double"):
        # NaN is the greatest and 0.0 = -0.0, as Spark has it; the bits say so.
        numbers = np.array([value or 0.0 for value in values], np.float64)
        bits = np.where(np.isnan(numbers), 0x7FF8000000000000, numbers.view(np.int64))
        return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))
    if column.type in _INTEGERS or column.kind == "date":
        return np.array([value or 0 for value in values], np.int64)
    found = np.empty(len(values), object)
    if column.kind == "number":
        found[:] = [value or Decimal() for value in values]
    else:
        found[:] = [(value or "").encode("utf-8") for value in values]
    return found


def _days(micros: int) -> float:
    return micros / MICROS_OF_A_DAY
