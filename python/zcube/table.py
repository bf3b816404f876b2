"""A Delta table and ZCube's operations on it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal, overload

from zcube._log.conditions import NO_CLUSTERING_COLUMNS
from zcube._messages import first_line
from zcube._spark import extension
from zcube._spark.progress import watched
from zcube._sql import quoting, statements
from zcube._sql.arguments import (
    column_names,
    column_weights,
    curve_name,
    flag,
    predicate_text,
    size,
    text,
    where_text,
)
from zcube._sql.workload import Workload, workload_option
from zcube._uris import require_text
from zcube.errors import ZCubeError
from zcube.results.optimize import OptimizeResult
from zcube.results.plan import OptimizePlan
from zcube.results.quality import ClusteringQuality
from zcube.results.recommendation import Recommendations

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import TypedDict, Unpack

    from zcube._sql.statements import Queries

    class _OptimizeOptions(TypedDict, total=False):
        """The arguments of ``optimize`` that don't decide what it returns."""

        zorder_by: Sequence[str] | None
        where: str | None
        full: bool
        progress: bool | None
        curve: str | None
        weights: Mapping[str, float] | None
        workload: Workload | None
        merge_policy: str | None
        max_bytes: int | str | None
        max_duration: str | None
        min_cube_size: int | str | None
        target_cube_size: int | str | None
        max_file_size: int | str | None


class ClusteredTable:
    """A Delta table by name or path. It uses SQL, so it works over Spark Connect as well.

    Examples:
        >>> table = ClusteredTable.for_name(spark, "events")  # doctest: +SKIP
        >>> print(table.optimize(zorder_by=["x", "y"]))  # doctest: +SKIP
        /data/events: 64 files (512.0 MiB) rewritten to 4 files (498.2 MiB) in 1 partition
    """

    def __init__(self, spark: SparkSession, table: str, path: str | None = None) -> None:
        """Use ``for_name`` or ``for_path``; ``table`` is SQL text here."""
        # PySpark is imported only now: importing zcube doesn't need it.
        from zcube._log.spark import SparkLog

        self._spark = spark
        self._log = SparkLog(spark, table, path)

    @classmethod
    def for_name(cls, spark: SparkSession, name: str) -> ClusteredTable:
        """Return a table by name: ``"t"``, ``"schema.t"`` or ``"catalog.schema.t"``.

        Parts of the name may be backquoted.

        Raises:
            ZCubeError: it is not a string or not UTF-8, a part of it is empty, or it has more than
                three.
        """
        if not isinstance(name, str):
            raise ZCubeError(f"The name of a table must be a string, not {name!r}.")
        require_text(name, "name")
        parts = quoting.name_parts(name)
        # Delta takes no more, and has no error for it.
        if len(parts) > 3:
            raise ZCubeError(f"{name} has more parts than catalog.schema.table.")
        return cls(spark, quoting.qualified(parts))

    @classmethod
    def for_path(cls, spark: SparkSession, path: str | PathLike[str]) -> ClusteredTable:
        """Return a table by its folder: a path, also of pathlib, or a URI.

        A relative path means the same as for ``spark.read.load``: over Spark Connect it is relative
        to the server's working directory.

        Raises:
            ZCubeError: the path is empty, no path, or not UTF-8.
        """
        if isinstance(path, PathLike):
            path = path.__fspath__()
        if not isinstance(path, str):
            raise ZCubeError(f"path must be a string or a pathlib.Path, not {path!r}.")
        require_text(path)
        # Delta accepts only absolute paths in delta.`…`, but any path in a string literal.
        absolute = path.startswith("/") or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", path)
        text = f"delta.{quoting.identifier(path)}" if absolute else quoting.literal(path)
        return cls(spark, text, path)

    @overload
    def optimize(
        self,
        *,
        dry_run: Literal[False] = ...,
        forecast: Literal[False] = ...,
        measure: bool = ...,
        **options: Unpack[_OptimizeOptions],
    ) -> OptimizeResult: ...

    @overload
    def optimize(
        self,
        *,
        dry_run: Literal[True],
        forecast: bool = ...,
        measure: Literal[False] = ...,
        **options: Unpack[_OptimizeOptions],
    ) -> OptimizePlan: ...

    @overload
    def optimize(
        self,
        *,
        dry_run: bool,
        forecast: bool = ...,
        measure: bool = ...,
        **options: Unpack[_OptimizeOptions],
    ) -> OptimizeResult | OptimizePlan: ...

    def optimize(
        self,
        *,
        zorder_by: Sequence[str] | None = None,
        where: str | None = None,
        full: bool = False,
        dry_run: bool = False,
        forecast: bool = False,
        measure: bool = False,
        progress: bool | None = None,
        curve: str | None = None,
        weights: Mapping[str, float] | None = None,
        workload: Workload | None = None,
        merge_policy: str | None = None,
        max_bytes: int | str | None = None,
        max_duration: str | None = None,
        min_cube_size: int | str | None = None,
        target_cube_size: int | str | None = None,
        max_file_size: int | str | None = None,
    ) -> OptimizeResult | OptimizePlan:
        """Rewrite files so that rows near each other in all the columns share files.

        It rewrites only what is worth it: new files, and older files that overlap them. If there is
        nothing new, it rewrites nothing.

        Args:
            zorder_by: columns, unless the table is clustered (see ``cluster_by``) and defines them;
                ``"a.b"`` is a nested field, ``"`a.b`"`` a column with a dot in its name.
            where: a predicate on partition columns, or on the clustering columns of a clustered
                table; files that it rules out aren't touched.
            full: also rewrite files that are clustered by other columns or another curve; with
                ``zorder_by``, rewrite every file.
            dry_run: only plan: read the log, return an ``OptimizePlan``, write nothing.
            forecast: with ``dry_run``, also predict depth and skipping. This runs a job that
                samples the clustering columns of the files to rewrite.
            measure: also return the quality ``before`` and ``after``, for the files that ``where``
                selects. Off by default, because each takes another pass over the files in the log:
                under 2 s for 10,000 files, but 20 s for a million. Where the table has no columns
                then, it is None. If only ``after`` fails, it is None, with a warning.
            progress: show a live progress bar; needs ``zcube[progress]`` and a classic session. By
                default it is shown if possible, and only in a terminal or a notebook.
            curve: ``kdtree``, which makes boxes and reads the fewest files, ``hilbert``, ``zorder``
                or ``linear``; by default ``spark.zcube.layout.curve``, or ``kdtree``. Cubes with
                another curve stay as they are until ``full``; with ``zorder_by``, until you name a
                curve here.
            weights: with ``kdtree``, how much more often queries filter by one column than by
                another. ``{"day": 3}`` gives all other columns the weight 1.
            workload: with ``kdtree``, predicates of queries: files are cut so that these skip most.
                ``["day = '2026-01-01'", ("user = 5", 3.0)]`` or a dict; the default weight is 1.
                The result's ``workload`` has the files read before and after.
            merge_policy: ``leveled`` (the default), which bounds the rewriting, or ``all``.
            max_bytes: rewrite at most this many bytes now, the most useful first; ``"10g"``.
                Bytes of deleted rows don't count.
            max_duration: start no group of files after this time; ``"90s"``, ``"10min"``.
            min_cube_size: a ZCube of this size is stable: nothing is merged into it.
            target_cube_size: the size up to which a ZCube is filled.
            max_file_size: size of the files to write.

        Raises:
            ZCubeError: an argument is wrong, or the session lacks ZCube's extension.
            AnalysisException: Delta rejects the statement (a partition column, no statistics, …).
            delta.exceptions.ConcurrentModificationException: another writer changed the files, and
                no cube could be committed.

        Examples:
            >>> table.optimize(max_bytes="10g").left_bytes  # doctest: +SKIP
            0
        """
        names = None if zorder_by is None else column_names(zorder_by, "zorder_by")
        full = flag(full, "full")
        dry_run = flag(dry_run, "dry_run")
        forecast = flag(forecast, "forecast")
        measure = flag(measure, "measure")
        if progress is not None:
            progress = flag(progress, "progress")
        chosen = curve_name(curve)
        options = {
            "curve": chosen,
            "weights": quoting.weights(column_weights(weights, chosen)),
            "workload": workload_option(workload, chosen),
            "mergePolicy": text(merge_policy, "merge_policy", "leveled"),
            "maxBytes": size(max_bytes, "max_bytes"),
            "maxDuration": text(max_duration, "max_duration", "90s"),
            "minCubeSize": size(min_cube_size, "min_cube_size"),
            "targetCubeSize": size(target_cube_size, "target_cube_size"),
            "maxFileSize": size(max_file_size, "max_file_size"),
            "forecast": "true" if forecast else None,
            "details": "true",
            # Passed as a string and not as a clause, so its contents can't affect the statement.
            "where": None if where is None else where_text(where),
        }
        if forecast and not dry_run:
            raise ZCubeError("Only a dry run makes a forecast. Call optimize with dry_run=True.")
        if dry_run and measure:
            raise ZCubeError(
                "A dry run changes nothing, so there is nothing to measure. Call quality()."
            )
        extension.require(self._spark)
        statement = statements.optimize(
            self._log.name,
            names,
            options,
            full=full,
            dry_run=dry_run,
            write=quoting.writer(self._spark),
        )
        if dry_run:
            return OptimizePlan.from_rows(self._log.run(statement, "OPTIMIZE"))
        by = None if names is None else [quoting.qualified(parts) for parts in names]
        before = self._quality_if_any(by, where) if measure else None
        with watched(self._spark, progress):
            row = self._log.run(statement, "OPTIMIZE")[0]
        after = None
        if measure:
            try:
                after = self._quality_if_any(by, where)
            except Exception as error:  # The run is committed, so its result must not be lost.
                warnings.warn(
                    f"OPTIMIZE of {self._log.name} is complete, but measuring it failed: "
                    f"{first_line(error)}",
                    RuntimeWarning,
                    stacklevel=2,
                )
        return OptimizeResult.from_row(row, before, after)

    def _quality_if_any(
        self, columns: Sequence[str] | None, where: str | None
    ) -> ClusteringQuality | None:
        """Measure, unless the table has no columns to measure by."""
        try:
            return self.quality(columns=columns, where=where)
        except Exception as error:
            if NO_CLUSTERING_COLUMNS.is_of(error):
                return None
            raise

    def quality(
        self, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> ClusteringQuality:
        """Measure how well files are clustered by some columns, from the log alone.

        Args:
            columns: such as ``["x", "a.b"]``; by default the clustering columns, or those of the
                file that was clustered last.
            where: selects files, by the same predicates as ``optimize``.

        Raises:
            ZCubeError: an argument is wrong, or the session lacks ZCube's extension.
            AnalysisException: a column is unknown or has no order, or there are no default columns.

        Examples:
            >>> table.quality(columns=["x", "y"]).all.average_depth  # doctest: +SKIP
            1.3
        """
        return self._log.quality(columns=columns, where=where)

    def recommend(self, queries: Queries) -> Recommendations:
        """Recommend a clustering for these queries.

        Spark analyzes the queries but doesn't run them. One pass over the columns that they filter
        by takes a sample, on which ZCube tries layouts. Nothing is written.

        Args:
            queries: SELECT statements, or predicates such as ``"day = '2026-01-01'"``; write a
                query that runs three times as often as others as ``(text, 3)``, or ``{text: 3}``. A
                query refers to the table by its name, or the last part of its name or path.

        Raises:
            ZCubeError: an argument is wrong, or the session lacks ZCube's extension.
            AnalysisException: none of the queries could be read as a query on this table.

        Examples:
            >>> print(table.recommend(["SELECT * FROM events WHERE day = '2026-01-01'"]))
            ... # doctest: +SKIP
            by (day), kdtree: reads 3.1 % of the bytes that it reads today; …
        """
        statement = statements.recommend(self._log.name, queries, quoting.writer(self._spark))
        extension.require(self._spark)
        return Recommendations.from_rows(self._log.run(statement, "RECOMMEND CLUSTERING"))

    def files_read(self, predicate: str) -> list[str]:
        """Return the files that Spark's scan reads for a predicate; see ``ClusteringQuality``."""
        return self._log.files_read(predicate_text(predicate))

    @property
    def location(self) -> str:
        """The URI of the table's folder."""
        return self._log.location

    def cluster_by(self, *columns: str | None) -> None:
        """Set the table's clustering columns; ``cluster_by(None)`` removes them.

        Files keep their layout until the next ``optimize()``; only ``optimize(full=True)`` rewrites
        files that are clustered by other columns. A table that once had clustering columns takes no
        ``zorder_by`` any more, even after ``cluster_by(None)``: Delta rejects it.

        Raises:
            ZCubeError: a name is malformed, or a column is named twice.
            AnalysisException: Delta rejects an unknown column, too many columns, a column without
                statistics, or a partitioned table.

        Examples:
            >>> table.cluster_by("x", "y")  # doctest: +SKIP
        """
        names = None
        if len(columns) != 1 or columns[0] is not None:
            given = [column for column in columns if column is not None]
            if len(given) < len(columns):
                raise ZCubeError("cluster_by takes column names, or None alone.")
            names = column_names(given, "cluster_by")
        # ALTER TABLE takes no string literal for a path.
        if self._log.name.startswith("'"):
            raise ZCubeError(f"cluster_by needs an absolute path or a name, not {self._log.name}.")
        self._log.run(statements.cluster_by(self._log.name, names), "ALTER TABLE")

    @property
    def clustering_columns(self) -> list[str]:
        """The table's clustering columns; empty if it isn't clustered."""
        return list(self._log.detail()["clusteringColumns"] or [])

    def __repr__(self) -> str:
        return f"ClusteredTable({self._log.name})"
