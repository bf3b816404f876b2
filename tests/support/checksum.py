"""Whether two tables hold the same rows, in any order."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Multiset(NamedTuple):
    """A fingerprint of rows as a multiset: order doesn't matter, duplicates count."""

    rows: int
    checksum: Decimal


def multiset(df: DataFrame) -> Multiset:
    """Count the rows and add up a 64-bit hash of each.

    The sum is DECIMAL(38, 0), which can't overflow for fewer than 10^19 rows; with BIGINT it could
    wrap or fail. A map column has no hash in Spark: turn it into an array of entries first.
    """
    columns = ", ".join(f"`{name.replace('`', '``')}`" for name in sorted(df.columns))
    row = df.selectExpr(
        "count(*) AS n", f"coalesce(sum(cast(xxhash64({columns}) AS DECIMAL(38, 0))), 0) AS s"
    ).collect()[0]
    return Multiset(row["n"], row["s"])
