"""A table's log, read by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as t

from zcube._log import tags, types
from zcube._log.cubes import LoggedCube, names_in
from zcube._log.files import Axis, FileBounds, interval
from zcube._log.schema import columns_with_minimum, fields_of
from zcube._spark import extension, gateway
from zcube._spark.connect import is_connect
from zcube._sql import quoting, statements
from zcube._sql.arguments import column_names, where_text
from zcube.errors import ZCubeError
from zcube.results.quality import ClusteringQuality

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Row, SparkSession


class SparkLog:
    """What a session knows about a table without reading its data.

    Attributes:
        name: of the table, as SQL text.
        version: None if it reads the newest each time, or what the name says.
    """

    version: int | None = None

    def __init__(self, spark: SparkSession, name: str, path: str | None) -> None:
        """Name a table; ``path`` is its location, if it is named by path."""
        self._spark = spark
        self.name = name
        self._path = path
        self._location: str | None = None

    @property
    def over_connect(self) -> bool:
        """Whether the session uses Spark Connect, where files and cubes are unavailable."""
        return is_connect(self._spark)

    @property
    def location(self) -> str:
        """The URI of the table's folder."""
        # A name may get another folder; a version that ``at`` returned has its own.
        return self._location or str(self.detail()["location"])

    def detail(self) -> Row:
        """Return the row of DESCRIBE DETAIL."""
        return self.run(f"DESCRIBE DETAIL {self.name}", "DESCRIBE DETAIL")[0]

    def commits(self, max_count: int | None = None) -> list[dict[str, Any]]:
        """Return the rows of DESCRIBE HISTORY, the newest first."""
        limit = "" if max_count is None else f" LIMIT {max_count}"
        rows = self.run(f"DESCRIBE HISTORY {self.name}{limit}", "DESCRIBE HISTORY")
        return [row.asDict() for row in rows]

    def run(self, statement: str, doing: str) -> list[Row]:
        """Run a statement, whose jobs Ctrl-C stops; raise typed errors."""
        connect = self.over_connect
        with gateway.typed_errors(f"{doing} {self.name}", connect=connect), self._stoppable():
            return self._spark.sql(statement).collect()

    def quality(
        self, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> ClusteringQuality:
        """Measure as ``ClusteredTable.quality`` does."""
        names = None if columns is None else column_names(columns, "columns")
        predicate = None if where is None else where_text(where)
        extension.require(self._spark)
        statement = statements.describe_clustering(self.name, names, predicate)
        rows = self.run(statement, "DESCRIBE CLUSTERING")
        return ClusteringQuality.from_rows(rows, self.files_read)

    def at(self, version: int) -> SparkLog:
        """Return the table as of a version; DESCRIBE CLUSTERING needs its path for this."""
        location = self.location
        path = f"{location}@v{version}"
        log = SparkLog(self._spark, f"delta.{quoting.identifier(path)}", path)
        log.version = version
        log._location = location
        return log

    def files_read(self, predicate: str) -> list[str]:
        """Return the files that a scan reads for a predicate, also if the table is cached.

        Raises:
            ZCubeError: over Spark Connect, the table is a view whose rows Spark has cached.
        """
        from pyspark.errors import AnalysisException

        connect = self.over_connect
        rows = self._rows()
        with gateway.typed_errors(f"Reading {self.name}", connect=connect), self._stoppable():
            found = rows.where(predicate)
            try:
                # Rows from a cache have no files. A cached table lacks this column, so Spark reads
                # the table itself.
                file = rows.metadataColumn("_metadata").getField("file_path")
                return sorted(found.select(file).inputFiles())
            except AnalysisException:
                # A view hides it; if the predicate is wrong, this says so.
                if not connect:
                    return sorted(gateway.uncached_files(found))
                connected: Any = found
                if "InMemoryRelation" in connected._explain_string(extended=True):
                    raise ZCubeError(
                        f"{self.name} is a view whose rows Spark has cached, so that it reads no "
                        "files. Name the table, or UNCACHE it first."
                    ) from None
                return sorted(found.inputFiles())

    def columns_with_minimum(self) -> list[str]:
        """Return the columns for which Delta keeps minima, judged by type and position."""
        return columns_with_minimum(
            self._rows().schema.jsonValue(), self.detail()["partitionColumns"]
        )

    def files(self, columns: Sequence[str]) -> tuple[list[Axis], list[FileBounds]]:
        """Return each file's minima and maxima in the current version; no data is read.

        Raises:
            ZCubeError: there is no such column, or the session uses Spark Connect.
        """
        rows = self._rows()
        if self.over_connect:
            raise ZCubeError(
                "The files' boxes come from Delta's log in the session's Java process, which isn't "
                "accessible over Spark Connect. Draw them in a classic session; quality(), "
                "plots.depth_histogram and plots.history work over Connect too."
            )

        from pyspark.sql import functions as f

        axes, ends = [], []
        with self._stoppable():
            files, schema, partitions = gateway.logged_files(rows, self.name)
            for column in columns:
                axis, low, high = _ends(files, schema, partitions, column, self.name)
                axes.append(axis)
                ends += [low, high]
            found = files.select("path", "size", f.col("tags")[tags.CUBE], *ends).collect()
        boxes = [
            FileBounds(
                row[0],
                row[1],
                tuple(interval(row[i : i + 2]) for i in range(3, len(row), 2)),
                row[2],
            )
            for row in found
        ]
        return axes, sorted(boxes, key=lambda box: box.path)

    def cubes(self) -> list[LoggedCube]:
        """Return the ZCubes, the largest first; in a classic session only."""
        from pyspark.sql import functions as f

        table = self._rows()
        cube, by, curve = (f.col("tags")[tag] for tag in (tags.CUBE, tags.COLUMNS, tags.CURVE))
        with self._stoppable():
            actions, _, _ = gateway.logged_files(table, self.name)
            rows = (
                actions.where(cube.isNotNull())
                .groupBy(cube.alias("id"), by.alias("by"), curve.alias("curve"))
                .agg(f.count("*").alias("files"), f.sum("size").alias("bytes"))
                .collect()
            )
        cubes = (
            LoggedCube(
                id=row["id"],
                columns=names_in(row["by"]),
                curve=row["curve"],
                files=row["files"],
                bytes=row["bytes"],
            )
            for row in rows
        )
        return LoggedCube.in_order(cubes)

    def _stoppable(self) -> AbstractContextManager[object]:
        """Let Ctrl-C stop the block's jobs; over Connect, PySpark does so."""
        return nullcontext() if self.over_connect else gateway.stoppable(self._spark)

    def _rows(self) -> DataFrame:
        # Where a version has no checksum file, a job reads the schema.
        with self._stoppable():
            if self._path is not None:
                return self._spark.read.format("delta").load(self._path)
            return self._spark.table(self.name)


def _ends(
    files: DataFrame, schema: t.StructType, partitions: Sequence[str], name: str, table: str
) -> tuple[Axis, Column, Column]:
    from pyspark.sql import functions as f

    fields = fields_of(schema.jsonValue(), quoting.name_parts(name), table)
    logical = [field["name"] for field in fields]
    physical = [
        field["metadata"].get("delta.columnMapping.physicalName", field["name"]) for field in fields
    ]
    data_type: Any = schema
    for part in logical:
        data_type = data_type[part].dataType
    if physical[0] in partitions:
        value = f.col("partitionValues")[physical[0]].try_cast(data_type)
        low = high = value
    else:
        low, high = (_statistic(files, part, physical) for part in ("minValues", "maxValues"))
    # A collated string has a type of its own in JSON.
    is_text = isinstance(data_type, t.StringType)
    column_type = types.TEXT if is_text else types.find(data_type.jsonValue()) or types.OTHER
    if not column_type.has_minimum and physical[0] in partitions:
        column_type = types.TEXT
    axis = Axis(".".join(logical), data_type.simpleString(), column_type.kind)
    return axis, column_type.position_in_spark(low), column_type.position_in_spark(high)


def _statistic(files: DataFrame, part: str, physical: Sequence[str]) -> Column:
    """Return the statistic, or NULL if no file can have it."""
    from pyspark.sql import functions as f

    path = ["stats", part, *physical]
    within: t.DataType = files.schema
    for step in path:
        if not isinstance(within, t.StructType) or step not in within.names:
            return f.lit(None)
        within = within[step].dataType
    return f.col(quoting.qualified(path))
