"""The box that each file of a table spans over two columns, from the statistics in Delta's log."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql import types as t

from zcube import _gateway, _sql
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from zcube.table import ClusteredTable

MICROS_OF_A_DAY = 86_400_000_000

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Axis:
    """A column as an axis.

    Attributes:
        name: as the table has it.
        type: in SQL's words.
        kind: ``number``; ``date``, in days since 1970 (of timestamps, in UTC); ``text``; or
            ``none``, for a type of which Delta keeps no minimum.
    """

    name: str
    type: str
    kind: str

    @property
    def label(self) -> str:
        """Name and type, with the time zone of timestamps."""
        return f"{self.name} ({self.type}{', UTC' if self.type == 'timestamp' else ''})"


@dataclass(frozen=True)
class FileBox:
    """A file.

    Attributes:
        path: as the log has it.
        bytes: its size.
        ends: each column's minimum and maximum in the axis' units, or None without both.
        cube: the id of its ZCube, or None.
    """

    path: str
    bytes: int
    ends: tuple[Ends | None, ...]
    cube: str | None = None

    @property
    def place(self) -> tuple[int, str] | None:
        """Where it stands in its cube along the curve, by the number of the task that wrote it."""
        number = re.match(r"part-(\d+)-", self.path.rsplit("/", 1)[-1])
        # A task's second file has a greater number at the end of its name.
        rest = re.search(r"-c(\d+)\.", self.path)
        return (int(number[1]), rest[1] if rest else "") if number else None


def read_by_spark(
    table: ClusteredTable, columns: Sequence[str]
) -> tuple[list[Axis], list[FileBox]]:
    """Read the log of a table as it is now; no data is read.

    Raises:
        ZCubeError: there is no such column, or the session is one of Spark Connect, through which
            the log's statistics can't be had.
    """
    rows = table._rows()
    if table._over_connect():
        raise ZCubeError(
            "The files' boxes come from Delta's log in the session's own Java process, which Spark "
            "Connect keeps to itself. Draw them in a classic session; quality(), "
            "plots.depth_histogram and plots.history work over Connect too."
        )
    from pyspark.sql import functions as f

    files, schema, partitions = _gateway.logged_files(rows)
    axes, ends = [], []
    for column in columns:
        axis, low, high = _ends(files, schema, partitions, column)
        axes.append(axis)
        ends += [low, high]
    found = files.select("path", "size", f.col("tags")["ZCUBE_ID"], *ends).collect()
    boxes = [
        FileBox(
            row[0], row[1], tuple(interval(row[i : i + 2]) for i in range(3, len(row), 2)), row[2]
        )
        for row in found
    ]
    return axes, sorted(boxes, key=lambda box: box.path)


def mark(boxes: Iterable[FileBox], read: Iterable[str]) -> list[bool]:
    """Say of each file whether it is among these, full paths as Spark lists them."""
    known = [unquote(path).split("/") for path in read]
    tails: dict[int, set[tuple[str, ...]]] = {}
    marks = []
    for box in boxes:
        parts = tuple(unquote(box.path).split("/"))
        if len(parts) not in tails:
            tails[len(parts)] = {tuple(path[-len(parts) :]) for path in known}
        marks.append(parts in tails[len(parts)])
    return marks


def interval(ends: Sequence[Any]) -> Ends | None:
    """Return minimum and maximum, or None without both."""
    low, high = ends
    if low is None or high is None or low != low:
        return None
    # Spark holds NaN to be the greatest of numbers.
    return low, math.inf if high != high else high


def _ends(
    files: DataFrame, schema: t.StructType, partitions: Sequence[str], name: str
) -> tuple[Axis, Column, Column]:
    from pyspark.sql import functions as f

    logical, physical, data_type = _find(schema, name)
    if physical[0] in partitions:
        value = f.col("partitionValues")[physical[0]].try_cast(data_type)
        low = high = value
    else:
        low, high = (_statistic(files, part, physical) for part in ("minValues", "maxValues"))
    if isinstance(data_type, t.NumericType):
        kind = "number"
    elif isinstance(data_type, (t.DateType, t.TimestampType, t.TimestampNTZType)):
        kind = "date"
    elif isinstance(data_type, t.StringType) or physical[0] in partitions:
        kind = "text"
    else:
        kind, low, high = "none", f.lit(None), f.lit(None)
    axis = Axis(".".join(logical), data_type.simpleString(), kind)
    return axis, _as_number(low, data_type, kind), _as_number(high, data_type, kind)


def _as_number(value: Column, data_type: t.DataType, kind: str) -> Column:
    from pyspark.sql import functions as f

    if kind in ("text", "none"):
        return value.cast("string")
    if kind == "number":
        return value.cast("double")
    if isinstance(data_type, t.DateType):
        return f.unix_date(value).cast("double")
    if isinstance(data_type, t.TimestampNTZType):
        # No time zone in the way: the clock's face as it is.
        value = f.concat(value.cast("string"), f.lit("Z")).cast("timestamp")
    return f.unix_micros(value) / MICROS_OF_A_DAY


def _statistic(files: DataFrame, part: str, physical: Sequence[str]) -> Column:
    """The statistic, or NULL where no file can have it."""
    from pyspark.sql import functions as f

    path = ["stats", part, *physical]
    within: t.DataType = files.schema
    for step in path:
        if not isinstance(within, t.StructType) or step not in within.names:
            return f.lit(None)
        within = within[step].dataType
    return f.col(_sql.qualified(path))


def _find(schema: t.StructType, name: str) -> tuple[list[str], list[str], t.DataType]:
    """Logical and physical name parts and the type of a column, in any case."""
    logical, physical = [], []
    within: t.DataType = schema
    for part in _sql.name_parts(name):
        fields = within.fields if isinstance(within, t.StructType) else []
        same = [field for field in fields if field.name.lower() == part.lower()]
        if not same:
            known = ", ".join(field.name for field in fields) or "no fields"
            raise ZCubeError(f"There is no column {name}; {part} is not among {known}.")
        field = next((field for field in same if field.name == part), same[0])
        logical.append(field.name)
        physical.append(field.metadata.get("delta.columnMapping.physicalName", field.name))
        within = field.dataType
    return logical, physical, within
