"""What an OPTIMIZE did."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Row


@dataclass(frozen=True)
class OptimizeResult:
    """The outcome of one OPTIMIZE.

    Attributes:
        path: where the table is.
        files_removed: files that were rewritten.
        files_added: files that were written in their place.
        bytes_removed: their bytes.
        bytes_added: their bytes.
        partitions: partitions that were rewritten.
        metrics: all metrics of the SQL command, under their own names.
    """

    path: str
    files_removed: int
    files_added: int
    bytes_removed: int
    bytes_added: int
    partitions: int
    metrics: dict[str, Any] = field(repr=False)

    @classmethod
    def from_row(cls, row: Row) -> OptimizeResult:
        """Read the one row that the SQL command returns."""
        metrics = row["metrics"].asDict(recursive=True)
        return cls(
            path=row["path"],
            files_removed=metrics["numFilesRemoved"],
            files_added=metrics["numFilesAdded"],
            bytes_removed=metrics["filesRemoved"]["totalSize"],
            bytes_added=metrics["filesAdded"]["totalSize"],
            partitions=metrics["partitionsOptimized"],
            metrics=metrics,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.path}: {self.files_removed} files ({_mib(self.bytes_removed)}) rewritten to "
            f"{self.files_added} files ({_mib(self.bytes_added)}) in {self.partitions} partition(s)"
        )


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
