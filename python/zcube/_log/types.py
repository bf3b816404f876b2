"""Column types: how their statistics are read, compared and drawn.

A type that isn't in this module's table has no minima as far as ZCube knows.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import TYPE_CHECKING, Any, ClassVar

# NumPy belongs to an extra, and PySpark loads slowly.
if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import Column

_ODD_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)")
# Enough digits for any of Spark's DECIMALs; what would be rounded is an error.
_EXACTLY = Context(prec=100, traps=[Inexact, InvalidOperation, Overflow])
_EPOCH = datetime(1970, 1, 1)
_MICROS_PER_DAY = 86_400_000_000


@dataclass(frozen=True)
class ColumnType(ABC):
    """A type of columns.

    Attributes:
        name: in Delta's schema.
        sql: its name in SQL.
        kind: of its axis: ``number``; ``date``, in days since 1970; ``text``; or ``none`` if it
            has no minima.
    """

    name: str
    sql: str
    kind: ClassVar[str]

    @property
    def has_minimum(self) -> bool:
        """Whether Delta keeps minima and maxima."""
        return self.kind != "none"

    @abstractmethod
    def read(self, statistic: Any) -> Any:
        """Return the value of a minimum or maximum, as the log's JSON has it.

        Raises:
            ValueError: it isn't written as Delta writes it, so that only Spark can judge it.
        """

    @abstractmethod
    def keys(self, values: Sequence[Any]) -> NDArray[Any]:
        """Return values that NumPy orders as Delta does; missing values become arbitrary ones."""

    @abstractmethod
    def position(self, value: Any) -> Any:
        """Return a value's position on the axis."""

    @abstractmethod
    def position_in_spark(self, value: Column) -> Column:
        """Return the position on the axis for a column of Spark's."""


class _Number(ColumnType):
    kind = "number"

    def position(self, value: Any) -> float:
        return float(value)

    def position_in_spark(self, value: Column) -> Column:
        return value.cast("double")


@dataclass(frozen=True)
class _Integer(_Number):
    bits: int

    def read(self, statistic: Any) -> int:
        minimum = -(2 ** (self.bits - 1))
        if type(statistic) is not int or not minimum <= statistic < -minimum:
            raise ValueError("not an integer of this type")
        return statistic

    def keys(self, values: Sequence[int | None]) -> NDArray[Any]:
        return _integers(values)


class _Double(_Number):
    def read(self, statistic: Any) -> float:
        if isinstance(statistic, str) and statistic in _ODD_NUMBERS:
            return _ODD_NUMBERS[statistic]
        if type(statistic) not in (int, Decimal):
            raise ValueError("not a number")
        return float(statistic)

    def keys(self, values: Sequence[float | None]) -> NDArray[Any]:
        import numpy as np

        # As in Spark, NaN is the largest value and 0.0 = -0.0; comparing the bits gives this order.
        numbers = np.array([value or 0.0 for value in values], np.float64)
        bits = np.where(np.isnan(numbers), 0x7FF8000000000000, numbers.view(np.int64))
        return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))


class _Float(_Double):
    def read(self, statistic: Any) -> float:
        import numpy as np

        return float(np.float32(super().read(statistic)))


@dataclass(frozen=True)
class _Decimal(_Number):
    precision: int
    scale: int

    def read(self, statistic: Any) -> Decimal:
        if type(statistic) not in (int, Decimal):
            raise ValueError("not a number")
        number = Decimal(statistic).normalize(_EXACTLY)
        _, digits, exponent = number.as_tuple()
        # DECIMAL(2, 2) has no digit before the point, but it has 0.
        if number and (
            not isinstance(exponent, int)
            or -exponent > self.scale
            or len(digits) + exponent + self.scale > self.precision
        ):
            raise ValueError("too many digits")
        return Decimal(statistic)

    def keys(self, values: Sequence[Decimal | None]) -> NDArray[Any]:
        return _objects([value or Decimal() for value in values])


class _Date(ColumnType):
    kind = "date"

    def read(self, statistic: Any) -> int:
        """Return days since 1970."""
        return (date.fromisoformat(_time_text(statistic)) - _EPOCH.date()).days

    def keys(self, values: Sequence[int | None]) -> NDArray[Any]:
        return _integers(values)

    def position(self, value: int) -> float:
        return float(value)

    def position_in_spark(self, value: Column) -> Column:
        from pyspark.sql import functions as f

        return f.unix_date(value).cast("double")


class _Timestamp(ColumnType):
    kind = "date"
    zoned = True

    def read(self, statistic: Any) -> int:
        """Return microseconds since 1970."""
        found = datetime.fromisoformat(re.sub(r"Z$", "+00:00", _time_text(statistic)))
        # With a missing or an unexpected time zone, the meaning depends on the session.
        if (found.tzinfo is not None) != self.zoned:
            raise ValueError("missing or unexpected time zone")
        if found.tzinfo is not None:
            found = found.astimezone(timezone.utc).replace(tzinfo=None)
        return (found - _EPOCH) // timedelta(microseconds=1)

    def keys(self, values: Sequence[int | None]) -> NDArray[Any]:
        return _integers(values)

    def position(self, value: int) -> float:
        return value / _MICROS_PER_DAY

    def position_in_spark(self, value: Column) -> Column:
        from pyspark.sql import functions as f

        return f.unix_micros(value) / _MICROS_PER_DAY


class _LocalTimestamp(_Timestamp):
    zoned = False

    def position_in_spark(self, value: Column) -> Column:
        from pyspark.sql import functions as f

        # Read the local time as UTC, so that no time zone shifts it.
        in_utc = f.concat(value.cast("string"), f.lit("Z")).cast("timestamp")
        return super().position_in_spark(in_utc)


class _Text(ColumnType):
    kind = "text"

    def read(self, statistic: Any) -> str:
        if not isinstance(statistic, str):
            raise ValueError("not text")
        # JSON may escape half a character, which no text has.
        statistic.encode("utf-8")
        return statistic

    def keys(self, values: Sequence[str | None]) -> NDArray[Any]:
        return _objects([(value or "").encode("utf-8") for value in values])

    def position(self, value: str) -> str:
        return value

    def position_in_spark(self, value: Column) -> Column:
        return value.cast("string")


class _WithoutMinimum(ColumnType):
    """Delta ignores minima of these types, even if some writer wrote them."""

    kind = "none"

    def read(self, statistic: Any) -> None:
        return None

    def keys(self, values: Sequence[None]) -> NDArray[Any]:
        return _integers(values)

    def position(self, value: None) -> None:
        return None

    def position_in_spark(self, value: Column) -> Column:
        from pyspark.sql import functions as f

        return f.lit(None).cast("string")


TEXT = _Text("string", "string")
# Any type that isn't in the table.
OTHER = _WithoutMinimum("other", "other")
_TYPES = {
    found.name: found
    for found in (
        _Integer("byte", "tinyint", bits=8),
        _Integer("short", "smallint", bits=16),
        _Integer("integer", "int", bits=32),
        _Integer("long", "bigint", bits=64),
        _Float("float", "float"),
        _Double("double", "double"),
        _Date("date", "date"),
        _Timestamp("timestamp", "timestamp"),
        _LocalTimestamp("timestamp_ntz", "timestamp_ntz"),
        TEXT,
        _WithoutMinimum("boolean", "boolean"),
        _WithoutMinimum("binary", "binary"),
    )
}


def find(data_type: Any) -> ColumnType | None:
    """Return a type of Delta's or Spark's schema as JSON; None for nested and unknown ones."""
    if not isinstance(data_type, str):
        return None
    decimal = _DECIMAL.fullmatch(data_type)
    if decimal:
        return _Decimal(data_type, data_type, int(decimal[1]), int(decimal[2]))
    return _TYPES.get(data_type)


def has_minimum(data_type: Any) -> bool:
    """Return whether Delta keeps minima of a type in a schema as JSON."""
    found = find(data_type)
    return found is not None and found.has_minimum


def _time_text(statistic: Any) -> str:
    if not isinstance(statistic, str) or not _WRITTEN.fullmatch(statistic):
        raise ValueError("not a time as text")
    return statistic


def _integers(values: Sequence[int | None]) -> NDArray[Any]:
    import numpy as np

    return np.array([value or 0 for value in values], np.int64)


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    import numpy as np

    found = np.empty(len(values), object)
    found[:] = values
    return found
