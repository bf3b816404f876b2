"""A table that an OPTIMIZE lays out during cluster failures."""

import os
from collections import Counter

import pyarrow.parquet as parquet

from tests.support.log_replay import (
    actions,
    data_files_on_disk,
    files_ever_added,
    last_version,
    live_files,
)

OPTIMIZE = "OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ('maxFileSize' = '60000')"


class TableOnCluster:
    """A table of two cubes, and its layout after an undisturbed OPTIMIZE."""

    def __init__(self, cluster, path):
        """Make the table, and lay it out with an undisturbed run."""
        self.cluster = cluster
        self.path = str(path)
        cluster.run(
            f"CREATE TABLE delta.`{path}` USING delta PARTITIONED BY (p) AS SELECT /*+ REPARTITION(6) */ "
            "id, hash(id) x, hash(id, 1) y, string(hash(id, 2)) s, id % 2 p FROM range(60000)"
        )
        self.first = last_version(self.path)
        self.rows = self._rows()
        cluster.run(self.statement)
        self.boxes = self._boxes()
        assert sum(self.boxes.values()) > 12

    @property
    def statement(self):
        """The OPTIMIZE."""
        return OPTIMIZE.format(path=self.path)

    def _boxes(self):
        return Counter(file.box for file in live_files(self.path))

    def _rows(self):
        rows = Counter()
        for file in live_files(self.path):
            columns = parquet.ParquetFile(f"{self.path}/{file.path}").read().to_pydict()
            rows.update(zip(*(columns[name] for name in ("id", "x", "y", "s")), strict=True))
        return rows

    def _orphans(self):
        return data_files_on_disk(self.path) - files_ever_added(self.path)

    def restore(self, commits=1):
        """Reset it to its state before any OPTIMIZE; the next one makes one commit for both cubes, or two."""
        self.commits = commits
        batch_size = "spark.databricks.delta.optimize.batchSize"
        self.cluster.run(f"SET {batch_size}=1" if commits == 2 else f"RESET {batch_size}")
        self.cluster.run(f"RESTORE delta.`{self.path}` TO VERSION AS OF {self.first}")
        self.version = last_version(self.path)
        self.left_before = self._orphans()

    def check(self, unfinished=()):
        """No row is lost, and the layout is the same; only files of discarded attempts may be left."""
        assert self._rows() == self.rows
        assert self._boxes() == self.boxes
        new = range(self.version + 1, last_version(self.path) + 1)
        operations = [
            action["commitInfo"]["operation"]
            for version in new
            for action in actions(self.path, version)
            if "commitInfo" in action
        ]
        assert operations == ["OPTIMIZE"] * self.commits
        assert self._orphans() - self.left_before <= {
            os.path.relpath(file, self.path) for file in unfinished
        }
