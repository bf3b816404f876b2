"""The ZCubes of a table, according to the log."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class LoggedCube:
    """The remaining files of a ZCube.

    Attributes:
        id: its id.
        columns: the columns that it was clustered by, with their names at that time.
        curve: its curve, if the files name it.
        files: the number of files.
        bytes: the bytes of these files.
    """

    id: str
    columns: list[str]
    curve: str | None
    files: int
    bytes: int

    @staticmethod
    def in_order(cubes: Iterable[LoggedCube]) -> list[LoggedCube]:
        """Return the cubes, the largest first."""
        return sorted(cubes, key=lambda cube: (-cube.bytes, cube.id))


def names_in(tag: str | None) -> list[str]:
    """Return the columns in a cube's tag; none if it has something else.

    >>> names_in('["x", "y"]'), names_in('"xy"'), names_in("["), names_in(None)
    (['x', 'y'], [], [], [])
    """
    try:
        names = json.loads(tag or "[]")
    except (ValueError, RecursionError):
        return []
    return names if isinstance(names, list) and all(isinstance(n, str) for n in names) else []
