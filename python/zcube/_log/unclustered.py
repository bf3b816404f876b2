"""What to show for a table without clustering columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcube._log.actions import NotServedError
from zcube._log.conditions import NO_CLUSTERING_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zcube._log.protocol import TableLog
    from zcube.results.quality import ClusteringQuality

NOTE = "The table has no clustering columns; these are the first columns with statistics."


def quality_by_any(
    log: TableLog, columns: Sequence[str] | None, where: str | None = None
) -> tuple[ClusteringQuality, bool]:
    """Measure like ``TableLog.quality``, but by the columns with statistics if the table has none.

    Returns:
        The quality, and whether the columns are the table's own or the requested ones.
    """
    try:
        return log.quality(columns=columns, where=where), True
    except Exception as error:  # PySpark's or ZCube's; PySpark may not be loaded.
        if columns is not None or not NO_CLUSTERING_COLUMNS.is_of(error):
            raise
        try:
            possible = log.columns_with_minimum()
        except NotServedError:
            raise
        except Exception as unknown:  # Of a version in a path, DESCRIBE DETAIL doesn't tell.
            raise error from unknown
        if not possible:
            raise
        found = log.quality(columns=possible, where=where)
        known = [column.column for column in found.columns if column.files_with_stats]
        if not known:
            raise
    if len(known) < len(possible):
        found = log.quality(columns=known, where=where)
    return found, False
