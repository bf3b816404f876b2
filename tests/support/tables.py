"""Tables that several tests use, what they must measure, and how it is compared."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from tests.reference.overlaps import NULLS, UNKNOWN
from tests.support.log_replay import live_files
from tests.support.templates import written_once

SMALL = 12 << 10
FIGURES = (
    "files",
    "files_with_stats",
    "average_depth",
    "maximum_depth",
    "average_overlaps",
    "depth_histogram",
    "constant_files",
    "skipping_effectiveness",
)
KINDS = [
    "integer",
    "long",
    "byte",
    "double",
    "date",
    "timestamp",
    "string",
    "decimal(10,3)",
    "decimal(30,3)",
]


@written_once
def make(spark, path, deletion_vectors=False):
    """Six files by ranges of id, the last in a separate commit; ``cube_sizes`` make two cubes."""
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, y INT, s STRING) USING delta CLUSTER BY (id, y) "
        f"TBLPROPERTIES ('delta.enableDeletionVectors' = {str(deletion_vectors).lower()}, "
        "'delta.columnMapping.mode' = 'name')"
    )
    for start, files in ((0, 5), (5000, 1)):
        spark.range(start, start + files * 1000, 1, files).selectExpr(
            "id", "hash(id) y", "string(id) s"
        ).write.format("delta").mode("append").save(path)


def cube_sizes(spark, path):
    """Options that make two cubes of the files: two fifths are stable, three fifths too many.

    A setting of the session gives each cube a job and a commit of its own.
    """
    size = sum(file.size for file in live_files(path))
    spark.conf.set("spark.zcube.layout.maxJobBytes", str(size * 3 // 5))
    return {"min_cube_size": size * 2 // 5, "target_cube_size": size * 3 // 5}


def extents(path, column, parse=lambda value: value):
    """Each file's extent in a column, from the log."""
    found = []
    for file in live_files(path):
        if column in file.minimum and column in file.maximum:
            found.append((parse(file.minimum[column]), parse(file.maximum[column])))
        elif file.rows is not None and file.null_count.get(column) == file.rows:
            found.append(NULLS)
        else:
            found.append(UNKNOWN)
    return found


def assert_figures(quality, expected):
    for name in FIGURES:
        found = getattr(quality, name)
        if isinstance(expected[name], float):
            assert found == pytest.approx(expected[name]), (quality.column, name)
        else:
            assert found == expected[name], (quality.column, name)


def points(spark, start, count, parts=1):
    return spark.range(start, start + count, 1, parts).selectExpr(
        "id", "hash(id) x", "hash(id, 1) & 1023 y", "string(id % 50) s"
    )


def scalar(kind, number):
    """A value of a type, in the order of the numbers, in its JSON form and in a form for Python."""
    if kind == "date":
        value = date(1970, 1, 1) + timedelta(days=number)
        return value.isoformat(), value
    if kind == "timestamp":
        value = datetime(2026, 3, 29) + timedelta(milliseconds=500 * number)
        return value.isoformat(timespec="milliseconds") + "Z", value
    if kind.startswith("decimal"):
        value = Decimal(number) / 8
        return float(value), value
    if kind == "double":
        return number / 4, number / 4
    if kind == "string":
        text = "é" * (number % 3) + chr(0x1F600 + number)
        return text, text.encode("utf-8")
    return number, number
