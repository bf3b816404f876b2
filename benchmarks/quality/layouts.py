"""The compared layouts, each written by OPTIMIZE to a separate Delta table."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.log_replay import LiveFile, live_files

LAYOUTS = ("delta zorder", "delta cluster by", "zorder", "hilbert", "kdtree")
"""Delta's two, then ZCube's three."""

DEFAULT = "default"
"""ZCube's default layout."""


class Layouts:
    """Lays out a data set repeatedly, from copies of the same Delta table."""

    def __init__(self, spark: SparkSession, folder: Path, first: str = "c0") -> None:
        """``folder`` holds the Parquet files of the data set in ``source``.

        ``first``: a column that a table can be clustered by, until its turn comes.
        """
        # Separate sessions, so that their settings don't affect each other.
        self._zcube, self._delta = spark.newSession(), spark.newSession()
        self._delta.conf.set("spark.zcube.enabled", "false")
        self._folder = folder
        self.table = folder / "table"
        """Where the layout written last is."""
        source = spark.read.parquet(str(folder / "source"))
        for clustered in (False, True):
            target = str(self._base(clustered))
            if clustered:
                fields = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
                self._delta.sql(
                    f"CREATE TABLE delta.`{target}` ({fields}) USING delta CLUSTER BY ({first})"
                )
                source.write.format("delta").mode("append").save(target)
            else:
                source.write.format("delta").save(target)

    def _base(self, clustered: bool) -> Path:
        return self._folder / ("clustered" if clustered else "plain")

    def set(self, key: str, value: str) -> None:
        """Set something for everything that is written from now on."""
        for session in (self._zcube, self._delta):
            session.conf.set(key, value)

    def write(self, layout: str, columns: int, files: int) -> list[LiveFile]:
        """The files of the table after OPTIMIZE by its first columns, from the log."""
        return self.write_by(layout, [f"c{c}" for c in range(columns)], files)

    def write_by(self, layout: str, by: list[str], files: int) -> list[LiveFile]:
        """The same with columns of these names."""
        clustered = layout == "delta cluster by"
        base, table = self._base(clustered), self.table
        shutil.rmtree(table, ignore_errors=True)
        shutil.copytree(base, table)
        size = sum(file.size for file in live_files(base))
        by_delta = layout.startswith("delta")
        # Delta rounds bytes / target down; ZCube up, with 5 % more for the target.
        target = size // files if by_delta else int(size / 1.05 / (files - 0.5))
        session = self._delta if by_delta else self._zcube
        session.conf.set("spark.databricks.delta.optimize.maxFileSize", str(target))
        names = ", ".join(by)
        if clustered:
            session.sql(f"ALTER TABLE delta.`{table}` CLUSTER BY ({names})")
            session.sql(f"OPTIMIZE delta.`{table}`").collect()
        elif by_delta or layout == DEFAULT:
            session.sql(f"OPTIMIZE delta.`{table}` ZORDER BY ({names})").collect()
        else:
            session.sql(
                f"OPTIMIZE delta.`{table}` ZORDER BY ({names}) OPTIONS ('curve' = '{layout}')"
            ).collect()
        return live_files(table)
