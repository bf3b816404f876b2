"""The demo's queries, and what must be read for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WEEK = "l_shipdate BETWEEN DATE'1995-03-13' AND DATE'1995-03-19'"
PART = "l_partkey = 77777"

QUERIES = {
    "a week of ship dates": WEEK,
    "one part key": PART,
    "a box of both": "l_shipdate BETWEEN DATE'1995-01-01' AND DATE'1995-06-30' "
    "AND l_partkey BETWEEN 60000 AND 80000",
    "either of both": f"({WEEK}) OR ({PART})",
    "control: quantity": "l_quantity = 7",
}


@dataclass(frozen=True)
class Reading:
    """What must be read for a query: files, and their bytes."""

    files: int
    size: int


def readings(spark: SparkSession, table: Path) -> dict[str, Reading]:
    """Return what Spark's scan of the table would read for each query."""
    return {
        name: _reading(spark.read.format("delta").load(str(table)).where(query).inputFiles())
        for name, query in QUERIES.items()
    }


def _reading(files: list[str]) -> Reading:
    paths = [Path(unquote(urlparse(file).path)) for file in files]
    return Reading(len(paths), sum(path.stat().st_size for path in paths))
