"""Lays out the rows of any DataFrame by several columns at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from zcube._spark import extension
from zcube._sql.arguments import CURVES, column_names, column_weights, curve_name, flag, positive
from zcube._sql.quoting import folded
from zcube._sql.workload import Workload, workload_items
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["CURVES", "cluster"]

_HINT = "zcube_cluster"


def cluster(
    df: DataFrame,
    *columns: str,
    curve: str = "hilbert",
    weights: Mapping[str, float] | None = None,
    workload: Workload | None = None,
    num_partitions: int | None = None,
    target_file_bytes: int | None = None,
    sort: bool = True,
) -> DataFrame:
    """Lay out the rows by several columns at once, for any sink.

    Each partition of the result becomes a file when it is written. It holds a compact region of the
    space that the columns span, so readers can skip files by their minima and maxima.

    Examples:
        >>> zcube.cluster(df, "x", "y").write.parquet("/data/points")  # doctest: +SKIP

    Args:
        df: any DataFrame except a stream.
        columns: names; ``"a.b"`` is a nested field, ``"`a.b`"`` a column with a dot in its name.
        curve: ``hilbert``, ``zorder``, ``linear``, or ``kdtree``, the layout of ``optimize``, which
            makes boxes and reads the fewest files.
        weights: with ``kdtree``, how much more often queries filter by one column than by another:
            ``{"x": 3}``. A column that is not named has weight 1.
        workload: with ``kdtree``, predicates of queries: partitions are cut so that these skip
            most; ``["x = 5", ("y < 3", 2.0)]`` or a dict; the default weight is 1.
        num_partitions: how many partitions the result has.
        target_file_bytes: alternatively, aim at partitions of this many bytes, using Spark's
            estimate of the input's size; 128 MiB if neither is given.
        sort: whether to sort rows along the curve inside each partition, so that readers can skip
            row groups and pages too.

    Raises:
        ZCubeError: an argument is wrong, or the session lacks ZCube's extension, or ignores hints.
        AnalysisException: a column doesn't exist or has no order, no predicate of the workload uses
            the columns, or ``df`` is a stream.
    """
    if not hasattr(df, "sparkSession"):
        raise ZCubeError(f"zcube.cluster takes a DataFrame of Spark, not {type(df).__name__}.")
    names = column_names(columns, "zcube.cluster")
    if num_partitions is not None and target_file_bytes is not None:
        raise ZCubeError("Give num_partitions or target_file_bytes, not both.")
    if curve is None:
        raise ZCubeError(f"curve must be one of {', '.join(CURVES)}, not None.")
    chosen = curve_name(curve)
    spec = {
        "columns": names,
        "curve": chosen,
        "weights": _in_order(column_weights(weights, chosen), names),
        "workload": workload_items(workload, chosen),
        "numPartitions": positive(num_partitions, "num_partitions"),
        "targetFileBytes": positive(target_file_bytes, "target_file_bytes"),
        "sort": flag(sort, "sort"),
    }
    extension.require(df.sparkSession)
    extension.require_hints(df.sparkSession)
    return df.hint(_HINT, json.dumps(spec))


def _in_order(
    weights: list[tuple[list[str], float]] | None, columns: list[list[str]]
) -> list[float] | None:
    if weights is None:
        return None

    by_column = {folded(parts): weight for parts, weight in weights}
    ordered = [by_column.pop(folded(parts), 1.0) for parts in columns]
    if by_column:
        unknown = ", ".join(".".join(parts) for parts in by_column)
        raise ZCubeError(f"weights names {unknown}, which is not a column passed to zcube.cluster.")
    return ordered
