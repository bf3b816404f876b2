"""The demo's queries, and the files that Spark reads for each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from zcube._uris import local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Box:
    """A rectangle of ship dates and part keys, bounds included."""

    dates: tuple[date, date]
    parts: tuple[int, int]


@dataclass(frozen=True)
class Query:
    """A query with its name and its predicate."""

    name: str
    predicate: str


@dataclass(frozen=True)
class Reading:
    """What a query must read after Delta has skipped the files that statistics rule out."""

    files: int
    size: int


def example_box(scale: float) -> Box:
    """Return a box with half a year of shipments of a tenth of the parts."""
    parts = _parts(scale)
    return Box((date(1995, 1, 1), date(1995, 6, 30)), (parts * 3 // 10, parts * 4 // 10))


def example_queries(scale: float) -> list[Query]:
    """Return five queries: on each clustered column, on both in two ways, and on neither."""
    box = example_box(scale)
    part = _parts(scale) * 7 // 18
    return [
        Query("a week of shipments", "l_shipdate BETWEEN '1995-03-13' AND '1995-03-19'"),
        Query("one part", f"l_partkey = {part}"),
        Query(
            "a box of both",
            f"l_shipdate BETWEEN '{box.dates[0]}' AND '{box.dates[1]}' "
            f"AND l_partkey BETWEEN {box.parts[0]} AND {box.parts[1]}",
        ),
        Query("a day, or one part", f"l_shipdate = '1995-03-15' OR l_partkey = {part}"),
        Query("control: one supplier", f"l_suppkey = {max(1, int(1_234 * scale))}"),
    ]


def read_by(spark: SparkSession, table: Path, query: Query) -> Reading:
    """Ask Spark which files it would scan."""
    df = spark.read.format("delta").load(str(table)).where(query.predicate)
    # Spark lists names as they are: nothing in them is encoded.
    paths = [path for file in df.inputFiles() if (path := local_path(file)) is not None]
    return Reading(len(paths), sum(path.stat().st_size for path in paths))


def _parts(scale: float) -> int:
    """Return the number of part keys that TPC-H defines."""
    return int(200_000 * scale)
