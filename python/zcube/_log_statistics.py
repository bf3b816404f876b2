"""Statistics of a table's files, as deltalake reads them from the log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from zcube import _sql
from zcube._file_boxes import MICROS_OF_A_DAY
from zcube._layout_quality import FileRanges
from zcube._log_actions import NotServedError

_NUMBERS = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_NUMBERS |= {"float": "float", "double": "double"}
_DATES = {"date", "timestamp", "timestamp_ntz"}
# Delta reads no minimum of these, whoever wrote one.
_WITHOUT_MINIMUM = {"boolean", "binary"}


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
        return ".".join(
            part if re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", part) else _sql.identifier(part)
            for part in self.parts
        )

    @property
    def sql_type(self) -> str:
        """In SQL's words."""
        return _NUMBERS.get(self.type, self.type)

    @property
    def kind(self) -> str:
        """What kind of axis it makes."""
        if self.type in _NUMBERS or self.type.startswith("decimal("):
            return "number"
        if self.type in _DATES:
            return "date"
        return "text" if self.type == "string" else "none"


class LogStatistics:
    """Minima, maxima and counts of a table's files.

    Args:
        rows: deltalake's table of add actions.
        schema: Delta's.
        partitions: the partition columns.
    """

    def __init__(self, rows: pa.Table, schema: Any, partitions: Sequence[str]) -> None:
        self._rows = rows
        self._schema = schema
        self._partitions = partitions

    def find(self, parts: Sequence[str], *, exact: bool = False) -> LogColumn:
        """The first column of that name, in any case, as Spark finds it."""
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
                raise NotServedError(f"it has no column {'.'.join(parts)}")
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

    def _statistic(self, part: str, column: LogColumn) -> pa.Array:
        """What the files have of it, NULL where they have nothing."""
        missing = pa.nulls(self._rows.num_rows)
        if part not in self._rows.column_names:
            return missing
        values = self._rows[part].combine_chunks()
        within = values.type
        for name in column.parts:
            if not pa.types.is_struct(within) or within.get_field_index(name) < 0:
                return missing
            within = within.field(name).type
        return pc.struct_field(values, list(column.parts))

    def _ends(self, column: LogColumn) -> tuple[pa.Array, pa.Array]:
        """Minima and maxima."""
        if column.kind == "none":
            return pa.nulls(self._rows.num_rows), pa.nulls(self._rows.num_rows)
        return self._statistic("min", column), self._statistic("max", column)

    def ranges(self, column: LogColumn) -> tuple[FileRanges, str]:
        """The files' intervals in a column, and what to know of them."""
        low, high = self._ends(column)
        no_low, no_high = _flags(low.is_null()), _flags(high.is_null())
        nulls, rows = self._statistic("null_count", column), self._rows["num_records"]
        same = pc.fill_null(pc.equal(nulls.cast(pa.int64()), rows.combine_chunks()), False)
        only_nulls = no_low & no_high & _flags(same)
        given = ~no_low & ~no_high
        keys = _keys(low), _keys(high)
        ranges = FileRanges.of(*keys, given, only_nulls)
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
        """Minima and maxima in the units of an axis."""
        return list(
            zip(*(_as_numbers(end, column.type) for end in self._ends(column)), strict=True)
        )


def leaves(data_type: Any) -> int:
    if not is_struct(data_type):
        return 1
    return sum(leaves(one["type"]) for one in data_type["fields"])


def is_struct(data_type: Any) -> bool:
    return isinstance(data_type, dict) and data_type.get("type") == "struct"


def _flags(values: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(values.to_numpy(zero_copy_only=False), np.bool_)


def _keys(values: pa.Array) -> NDArray[Any]:
    """Values that numpy compares as Delta orders them; anything where there is none."""
    kind_ = values.type
    if pa.types.is_null(kind_):
        return np.zeros(len(values), np.int64)
    if pa.types.is_floating(kind_):
        # 0.0 = -0.0, and NaN is the greatest: as Spark has it, and numpy's unique as well.
        numbers = pc.fill_null(values.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
        bits = (numbers + 0.0).view(np.int64)
        bits = np.where(np.isnan(numbers), 0x7FF8000000000000, bits)
        return np.asarray(bits ^ ((bits >> 63) & np.iinfo(np.int64).max))
    if pa.types.is_date(kind_):
        values = values.cast(pa.int32())
    if pa.types.is_timestamp(kind_):
        values = values.cast(pa.timestamp("us", kind_.tz)).cast(pa.int64())
    if pa.types.is_integer(values.type):
        return np.asarray(pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
    found = np.empty(len(values), object)
    if pa.types.is_decimal(kind_):
        found[:] = [0 if value is None else value for value in values.to_pylist()]
    else:
        found[:] = [(value or "").encode("utf-8") for value in values.to_pylist()]
    return found


def _as_numbers(values: pa.Array, data_type: str) -> list[Any]:
    if pa.types.is_null(values.type):
        return [None] * len(values)
    if data_type == "date":
        return [None if v is None else float(v) for v in values.cast(pa.int32()).to_pylist()]
    if data_type.startswith("timestamp"):
        micros = values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64())
        return [None if v is None else v / MICROS_OF_A_DAY for v in micros.to_pylist()]
    if data_type == "string":
        return list(values.to_pylist())
    return [None if v is None else float(v) for v in values.to_pylist()]
