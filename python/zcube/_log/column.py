"""A column in the log: how its statistics are written, and how they compare."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zcube._log.actions import NotServedError
from zcube._log.files import MICROS_PER_DAY
from zcube._log.schema import INTEGERS, kind_of, quoted

_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
# Delta ignores minima of these types, even if some writer wrote them.
WITHOUT_MINIMUM = {"boolean", "binary"}
_ODD_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
# Enough digits for any of Spark's DECIMALs, so that nothing is rounded.
_EXACTLY = Context(prec=100)
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class LogColumn:
    """A column, or a leaf field of a nested one.

    Attributes:
        parts: of its name, as in the table.
        type: as in Delta's schema.
    """

    parts: tuple[str, ...]
    type: str

    @property
    def name(self) -> str:
        """The name as one string, with parts quoted where necessary."""
        return quoted(self.parts)

    @property
    def sql_type(self) -> str:
        """The type's name in SQL."""
        return INTEGERS.get(self.type, self.type)

    @property
    def kind(self) -> str:
        """The kind of axis for this type."""
        return kind_of(self.type)


def reader(column: LogColumn) -> Callable[[Any], Any]:
    """Return a reader of a column's values; it leaves values in an unexpected form to Spark."""

    def odd(value: Any) -> NotServedError:
        return NotServedError(
            f"{column.name} has the statistic {value!r}, which is not of type {column.type}"
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
        # With a missing or an unexpected time zone, the meaning depends on the session.
        if (found.tzinfo is None) != (column.type == "timestamp_ntz"):
            raise odd(value)
        if found.tzinfo is not None:
            found = found.astimezone(timezone.utc).replace(tzinfo=None)
        return (found - _EPOCH) // timedelta(microseconds=1)

    def text(value: Any) -> str:
        if not isinstance(value, str):
            raise odd(value)
        return value

    if column.type in INTEGERS:
        return integer
    if column.type in ("float", "double"):
        return number
    if column.kind == "number":
        return decimal
    return instant if column.kind == "date" else text


def keys(values: Sequence[Any], column: LogColumn) -> NDArray[Any]:
    """Return values that numpy orders as Delta does; missing values become arbitrary ones."""
    if column.type in ("float", "double"):
        # As in Spark, NaN is the largest value and 0.0 = -0.0; comparing the bits gives this order.
        numbers = np.array([value or 0.0 for value in values], np.float64)
        bits = np.where(np.isnan(numbers), 0x7FF8000000000000, numbers.view(np.int64))
        return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))
    if column.type in INTEGERS or column.kind == "date":
        return np.array([value or 0 for value in values], np.int64)
    found = np.empty(len(values), object)
    if column.kind == "number":
        found[:] = [value or Decimal() for value in values]
    else:
        found[:] = [(value or "").encode("utf-8") for value in values]
    return found


def days(micros: int) -> float:
    """Return days since 1970."""
    return micros / MICROS_PER_DAY
