"""ZCube's SQL functions for PySpark columns, classic and over Spark Connect.

They are built into a session with ZCube's extension, so SQL can use them too.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

ColumnOrName = Column | str


def _column(column: ColumnOrName) -> Column:
    return F.col(column) if isinstance(column, str) else column


def range_partition_id(column: ColumnOrName, n: int) -> Column:
    """Return the value's approximate rank: 0 to ``n - 1`` over ranges of about equal row counts.

    The values 0, 1, 3, 15, 36, 99 with ``n = 3`` have the ids 0, 0, 1, 1, 2, 2. NULL has id 0. The
    ranges come from a sample, which Spark takes when it optimizes the query, also for EXPLAIN.

    Args:
        column: of a type with an order.
        n: how many ranges, 1 to 1,048,576.

    Examples:
        >>> df.select(range_partition_id("day", 100))  # doctest: +SKIP
        DataFrame[range_partition_id(day, 100): int]

    Raises:
        AnalysisException: ``n`` is not 1 to 1,048,576, or the type has no order.
    """
    return F.call_function("range_partition_id", _column(column), F.lit(n))


def interleave_bits(*columns: ColumnOrName) -> Column:
    """Interleave the bits of INT columns: a BINARY of 4 bytes per column, in Z-order. NULL is 0.

    Args:
        columns: INT, SMALLINT or TINYINT; the first has the highest bit of each group.

    Examples:
        >>> df.select(F.hex(interleave_bits("x", "y")))  # doctest: +SKIP
        DataFrame[hex(interleave_bits(x, y)): string]

    Raises:
        AnalysisException: no column, or one that is not INT, SMALLINT or TINYINT.
    """
    return F.call_function("interleave_bits", *[_column(c) for c in columns])


def hilbert_index(bits: int, *columns: ColumnOrName) -> Column:
    """Return a point's position on the Hilbert curve through a grid of ``2**bits`` cells per side.

    The result is a BIGINT if ``bits`` times the number of columns is at most 63, otherwise a BINARY
    in curve order (J. Skilling, "Programming the Hilbert curve", 2004). NULL if a coordinate is
    NULL.

    Args:
        bits: of each coordinate, 1 to 32.
        columns: integers from 0 to ``2**bits - 1``.

    Examples:
        >>> df.select(hilbert_index(10, "x", "y"))  # doctest: +SKIP
        DataFrame[hilbert_index(10, x, y): bigint]

    Raises:
        AnalysisException: ``bits`` is not 1 to 32, no column is given, or one is not an integer.
        ArithmeticException: a value is outside 0 to ``2**bits - 1``
            (ZCUBE_HILBERT_VALUE_OUT_OF_RANGE).
    """
    return F.call_function("hilbert_index", F.lit(bits), *[_column(c) for c in columns])
