"""Reads from Delta's log the rectangle of ship dates and part keys that each file spans."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from zcube._log.protocol import log_of
from zcube.demo.comparison import COLUMNS
from zcube.demo.queries import Box
from zcube.table import ClusteredTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def file_boxes(spark: SparkSession, table: Path) -> list[Box]:
    """Read the statistics of the table's current version."""
    _, files = log_of(ClusteredTable.for_path(spark, str(table))).files(COLUMNS)
    return [
        Box((_date(dates[0]), _date(dates[1])), (int(parts[0]), int(parts[1])))
        for dates, parts in (file.ends for file in files)
        if dates and parts
    ]


def overlaps(box: Box, other: Box) -> bool:
    """Return whether two rectangles overlap."""
    return (
        box.dates[0] <= other.dates[1]
        and other.dates[0] <= box.dates[1]
        and box.parts[0] <= other.parts[1]
        and other.parts[0] <= box.parts[1]
    )


def _date(days: float) -> date:
    return date(1970, 1, 1) + timedelta(days=days)
