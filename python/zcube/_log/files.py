"""Each file's minima and maxima from the statistics in a log, as positions on axes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from zcube._uris import canonical

T = TypeVar("T")
# A minimum and a maximum.
Interval = tuple[T, T]


@dataclass(frozen=True)
class Axis:
    """A column as an axis.

    Attributes:
        name: as in the table.
        type: its name in SQL.
        kind: ``number``; ``date``, in days since 1970 (in UTC for timestamps); ``text``; or
            ``none``, for a type whose minimum Delta doesn't keep.
    """

    name: str
    type: str
    kind: str

    @property
    def label(self) -> str:
        """Name and type, with the time zone of timestamps."""
        return f"{self.name} ({self.type}{', UTC' if self.type == 'timestamp' else ''})"


@dataclass(frozen=True)
class FileBounds:
    """A file.

    Attributes:
        path: as in the log.
        bytes: its size.
        ends: each column's minimum and maximum in the axis' units, or None unless it has both.
        cube: the id of its ZCube, or None.
    """

    path: str
    bytes: int
    ends: tuple[Interval[Any] | None, ...]
    cube: str | None = None

    @property
    def place(self) -> tuple[int, str] | None:
        """Its position in its cube along the curve, from the number of the task that wrote it."""
        number = re.match(r"part-(\d+)-", self.path.rsplit("/", 1)[-1])
        # A task's second file has a larger number at the end of its name.
        rest = re.search(r"-c(\d+)\.", self.path)
        return (int(number[1]), rest[1] if rest else "") if number else None


def mark(boxes: Iterable[FileBounds], read: Iterable[str]) -> list[bool]:
    """Return for each file whether it is among these full paths, as Spark lists them.

    The log has URIs, where a folder's ``%`` is ``%25``; Spark lists the folder's own name. Of a
    file elsewhere, as in a shallow clone, the log has the full URI, which Spark may write
    differently.
    """
    known = [canonical(path).split("/") for path in read]
    tails: dict[int, set[tuple[str, ...]]] = {}
    marks = []
    for box in boxes:
        parts = tuple(canonical(unquote(box.path)).split("/"))
        if len(parts) not in tails:
            tails[len(parts)] = {tuple(path[-len(parts) :]) for path in known}
        marks.append(parts in tails[len(parts)])
    return marks


def interval(ends: Sequence[Any]) -> Interval[Any] | None:
    """Return minimum and maximum, or None unless there are both."""
    low, high = ends
    if low is None or high is None or low != low:
        return None
    # In Spark, NaN is the largest number.
    return low, math.inf if high != high else high
