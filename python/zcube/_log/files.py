"""What the statistics in a log say of each file: its minima and maxima, as places on axes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

MICROS_PER_DAY = 86_400_000_000

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
class FileBounds:
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


def mark(boxes: Iterable[FileBounds], read: Iterable[str]) -> list[bool]:
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
