"""The ZCubes of a table, as the log tells them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class LoggedCube:
    """The files that one clustering job wrote, as many as are left.

    Attributes:
        id: its id.
        columns: what it was clustered by, as the columns were named then.
        curve: along which curve, if the files say so.
        files: how many.
        bytes: of these files.
    """

    id: str
    columns: list[str]
    curve: str | None
    files: int
    bytes: int

    @staticmethod
    def in_order(cubes: Iterable[LoggedCube]) -> list[LoggedCube]:
        """The largest first."""
        return sorted(cubes, key=lambda cube: (-cube.bytes, cube.id))
