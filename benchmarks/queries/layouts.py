"""The compared layouts: each a Delta table of its own, clustered once."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from deltalake import DeltaTable, WriterProperties
from pyspark.sql import SparkSession

from benchmarks.cpu import measured
from benchmarks.queries.query import Query
from benchmarks.queries.tables import ROW_GROUPS, Table
from tests.support.log_replay import live_files

UNCLUSTERED = "unclustered"
ZORDER = "Delta ZORDER BY"
LIQUID = "Delta CLUSTER BY"
DEFAULT = "ZCube"
WORKLOAD = "ZCube, workload"
DELTA_RS = "delta-rs z_order"

LAYOUTS = (UNCLUSTERED, ZORDER, LIQUID, DEFAULT, WORKLOAD, DELTA_RS)
BY_SPARK = LAYOUTS[:-1]

COMPRESSION = "SNAPPY"
"""Of the files that delta-rs writes, as of Spark's; with none named it doesn't compress them."""

_ONE_FILE_EACH = {
    "spark.sql.files.maxPartitionBytes": "1g",
    "spark.sql.files.openCostInBytes": "1g",
}


class Layouts:
    """Writes the layouts of tables below a folder."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        # Separate sessions, so that their settings don't affect each other.
        self._zcube, self._delta = spark.newSession(), spark.newSession()
        self._delta.conf.set("spark.zcube.enabled", "false")
        self._folder = folder

    def path(self, layout: str, table: Table) -> Path:
        """Where a layout of a table is."""
        return self._folder / layout.replace(" ", "-") / table.name

    def write(self, layout: str, table: Table, queries: Iterable[Query]) -> dict[str, float]:
        """Write a layout, the unclustered table first; returns what the clustering took.

        Args:
            layout: which.
            table: which.
            queries: the workload, those of other tables too.
        """
        path, base = self.path(layout, table), self.path(UNCLUSTERED, table)
        if layout == UNCLUSTERED:
            self._write(table, path, clustered=False)
            return {"wall": 0.0, "cpu": 0.0}
        if layout == LIQUID:
            self._write(table, path, clustered=True)
        else:
            shutil.copytree(base, path)
        size = sum(file.size for file in live_files(path))
        if layout == DELTA_RS:
            return _z_order(path, table, size)
        # Delta rounds bytes / target down; ZCube up, with 5 % more for the target.
        by_delta = layout in (ZORDER, LIQUID)
        target = size // table.files if by_delta else int(size / 1.05 / (table.files - 0.5))
        session = self._delta if by_delta else self._zcube
        session.conf.set("spark.databricks.delta.optimize.maxFileSize", str(target))
        session.conf.set("parquet.block.size", str(size // table.files // ROW_GROUPS))
        statement = f"OPTIMIZE delta.`{path}`"
        if layout != LIQUID:
            statement += f" ZORDER BY ({', '.join(table.by)})"
        if layout == WORKLOAD:
            statement += f" OPTIONS ('workload' = '{_workload(table, queries)}')"
        return measured(session, lambda: session.sql(statement).collect())

    def _write(self, table: Table, path: Path, clustered: bool) -> None:
        """Write the rows in the order that they come in, a file for each file."""
        session = self._delta
        source = session.read.parquet(str(table.source))
        if clustered:
            fields = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
            by = ", ".join(table.by)
            session.sql(f"CREATE TABLE delta.`{path}` ({fields}) USING delta CLUSTER BY ({by})")
        size = sum(file.stat().st_size for file in table.source.iterdir())
        session.conf.set("parquet.block.size", str(size // table.files // ROW_GROUPS))
        for key, value in _ONE_FILE_EACH.items():
            session.conf.set(key, value)
        try:
            mode = "append" if clustered else "error"
            source.write.format("delta").mode(mode).save(str(path))
        finally:
            for key in _ONE_FILE_EACH:
                session.conf.unset(key)


def _workload(table: Table, queries: Iterable[Query]) -> str:
    """The predicates on a table, as OPTIMIZE's option in a SQL literal."""
    of_table = [query.predicates[table.name] for query in queries if table.name in query.predicates]
    useful = [
        predicate for predicate in of_table if any(column in predicate for column in table.by)
    ]
    return json.dumps(useful).replace("\\", "\\\\").replace("'", "\\'")


def _z_order(path: Path, table: Table, size: int) -> dict[str, float]:
    """Cluster by delta-rs, in this process."""
    delta = DeltaTable(str(path))
    rows = sum(file.rows or 0 for file in live_files(path))
    properties = WriterProperties(
        max_row_group_size=rows // table.files // ROW_GROUPS, compression=COMPRESSION
    )
    return _own_time(
        lambda: delta.optimize.z_order(
            list(table.by), target_size=size // table.files, writer_properties=properties
        )
    )


def _own_time(action: Callable[[], object]) -> dict[str, float]:
    """Wall and CPU seconds of an action in this Python process."""
    wall, cpu = time.monotonic(), os.times()
    action()
    done = os.times()
    return {
        "wall": time.monotonic() - wall,
        "cpu": done.user + done.system - cpu.user - cpu.system,
    }
