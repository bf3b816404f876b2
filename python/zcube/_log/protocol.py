"""What reports and pictures need from a table, whichever engine reads its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from zcube._log.cubes import LoggedCube
    from zcube._log.files import Axis, FileBounds
    from zcube.results.quality import ClusteringQuality
    from zcube.table import ClusteredTable


@runtime_checkable
class TableLog(Protocol):
    """``SparkLog``, and ``DeltaLakeLog``, which reads without Spark."""

    @property
    def name(self) -> str:
        """The table's name, as SQL text or as a path."""

    @property
    def version(self) -> int | None:
        """The version that it reads; None for the newest each time."""

    @property
    def over_connect(self) -> bool:
        """Whether files and cubes are unavailable."""

    def quality(
        self, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> ClusteringQuality:
        """Measure how well files are clustered by some columns."""

    def files_read(self, predicate: str) -> list[str]:
        """Return the files that a scan reads for a predicate."""

    def at(self, version: int) -> TableLog:
        """Return the table as of a version."""

    def commits(self, max_count: int | None = None) -> Sequence[Mapping[str, Any]]:
        """Return the rows of DESCRIBE HISTORY, the newest first."""

    def columns_with_minimum(self) -> list[str]:
        """Return the columns for which Delta keeps minima, judged by type and position."""

    def files(self, columns: Sequence[str]) -> tuple[list[Axis], list[FileBounds]]:
        """Return each file's ranges."""

    def cubes(self) -> list[LoggedCube]:
        """Return the ZCubes, the largest first."""


def log_of(table: ClusteredTable | TableLog) -> TableLog:
    """Return a table's log, which may be given itself.

    Raises:
        ZCubeError: it is neither.
    """
    log = getattr(table, "_log", table)
    if not isinstance(log, TableLog):
        raise ZCubeError(f"The table must be a ClusteredTable, not {type(table).__name__}.")
    return log
