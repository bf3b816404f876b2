"""The ZCubes of a table, as the log tells them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zcube import _gateway

if TYPE_CHECKING:
    from zcube.table import ClusteredTable


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


def read_by_spark(table: ClusteredTable) -> list[LoggedCube]:
    """Read them from the log, the largest first; a classic session only."""
    from pyspark.sql import functions as f

    actions, _, _ = _gateway.logged_files(table._rows())
    tags = [f.col("tags")[tag] for tag in ("ZCUBE_ID", "ZCUBE_ZORDER_BY", "ZCUBE_ZORDER_CURVE")]
    rows = (
        actions.where(tags[0].isNotNull())
        .groupBy(tags[0].alias("id"), tags[1].alias("by"), tags[2].alias("curve"))
        .agg(f.count("*").alias("files"), f.sum("size").alias("bytes"))
        .collect()
    )
    cubes = (
        LoggedCube(
            id=row["id"],
            columns=json.loads(row["by"]) if row["by"] else [],
            curve=row["curve"],
            files=row["files"],
            bytes=row["bytes"],
        )
        for row in rows
    )
    return LoggedCube.in_order(cubes)
