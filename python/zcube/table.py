"""A Delta table, and what ZCube can do with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zcube import _extension, _gateway, _sql
from zcube._validate import column_names, curve_name
from zcube.errors import ZCubeError
from zcube.result import OptimizeResult

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class ClusteredTable:
    """A Delta table by name or path; made of SQL, so that it works over Spark Connect as well.

    >>> table = ClusteredTable.for_name(spark, "events")  # doctest: +SKIP
    >>> print(table.optimize(zorder_by=["x", "y"]))  # doctest: +SKIP
    /data/events: 64 files (512.0 MiB) rewritten to 4 files (498.2 MiB) in 1 partition(s)
    """

    def __init__(self, spark: SparkSession, table: str) -> None:
        """Use ``for_name`` or ``for_path``; ``table`` is SQL text here."""
        self._spark = spark
        self._table = table

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> ClusteredTable:
        """Name a table: ``"t"``, ``"schema.t"`` or ``"catalog.schema.t"``; parts may be backquoted.

        Raises:
            ZCubeError: the name is empty or has an empty part.
        """
        return cls(spark, _sql.qualified(_sql.name_parts(name)))

    @classmethod
    def for_path(cls, spark: SparkSession, path: str) -> ClusteredTable:
        """Name a table by its folder: a path or a URI.

        A relative path means what it means to ``spark.read.load``: over Spark Connect the server's
        working directory counts.

        Raises:
            ZCubeError: the path is empty.
        """
        if not path:
            raise ZCubeError("The path of the table is empty.")
        # In delta.`…` Delta takes absolute paths only; a string literal may hold any.
        absolute = path.startswith("/") or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path)
        return cls(spark, f"delta.{_sql.identifier(path)}" if absolute else _sql.literal(path))

    def optimize(
        self,
        *,
        zorder_by: Sequence[str],
        where: str | None = None,
        curve: str | None = None,
    ) -> OptimizeResult:
        """Rewrite the table so that rows near each other in all the columns share files.

        Args:
            zorder_by: columns; ``"a.b"`` is a nested leaf, ``"`a.b`"`` a column with a dot.
            where: a predicate on partition columns; other partitions are left alone.
            curve: ``zorder`` (the default), ``hilbert`` or ``linear``.

        Raises:
            ZCubeError: an argument is wrong, or the session lacks ZCube's extension.
            AnalysisException: Delta's own refusals (a partition column, no statistics, …).
            delta.exceptions.ConcurrentModificationException: another writer changed the files;
                nothing was committed.
        """
        names = column_names(zorder_by, "zorder_by")
        chosen = curve_name(curve)
        _extension.require(self._spark)
        statement = [f"OPTIMIZE {self._table}"]
        if where is not None:
            if not where.strip():
                raise ZCubeError("where is empty. Leave it out to optimize the whole table.")
            statement.append(f"WHERE {where}")
        statement.append(f"ZORDER BY ({', '.join(_sql.qualified(parts) for parts in names)})")
        if chosen is not None:
            statement.append(f"OPTIONS ('curve' = {_sql.literal(chosen)})")
        with _gateway.typed_errors(f"OPTIMIZE {self._table}", connect=self._over_connect()):
            row = self._spark.sql(" ".join(statement)).collect()[0]
        return OptimizeResult.from_row(row)

    def _over_connect(self) -> bool:
        return type(self._spark).__module__.startswith("pyspark.sql.connect.")

    def __repr__(self) -> str:
        return f"ClusteredTable({self._table})"
