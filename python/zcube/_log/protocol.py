"""What reports and pictures need from a table, whichever engine reads its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from zcube._log.cubes import LoggedCube
    from zcube._log.files import Axis, FileBounds
    from zcube.results.quality import ClusteringQuality


class TableLog(Protocol):
    """``ClusteredTable``, which reads with Spark, and ``DeltaLakeLog``, which reads without it."""

    @property
    def _table(self) -> str:
        """The table's name, as SQL text or as a path."""

    @property
    def _version(self) -> int | None:
        """The version that it reads; None for the newest each time."""

    def quality(
        self, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> ClusteringQuality:
        """Measure how well files are clustered by some columns."""

    def files_read(self, predicate: str) -> list[str]:
        """Return the files that a scan reads for a predicate."""

    def _at(self, version: int) -> TableLog:
        """Return the table as of a version."""

    def _commits(self, max_count: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the rows of DESCRIBE HISTORY, the newest first."""

    def _columns_with_minimum(self) -> list[str]:
        """Return the columns for which Delta keeps minima, judged by type and position."""

    def _file_boxes(self, columns: Sequence[str]) -> tuple[list[Axis], list[FileBounds]]:
        """Return each file's ranges."""

    def _logged_cubes(self) -> list[LoggedCube]:
        """Return the ZCubes, the largest first."""

    def _over_connect(self) -> bool:
        """Whether files and cubes are unavailable."""
