"""What an OPTIMIZE did."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zcube.results import formatting
from zcube.results.cube import TITLES, CubeResult
from zcube.results.quality import ALL

if TYPE_CHECKING:
    from pyspark.sql import Row

    from zcube.results.quality import ClusteringQuality

_QUERIES = ("predicate", "weight", "files before", "bytes", "files after", "bytes", "note")
_UNKNOWN = ("–", "–")
_CHANGES = ("column", "average depth before", "after", "skipping before", "after")


@dataclass(frozen=True)
class WorkloadResult:
    """What a predicate of the workload must read, after Delta's data skipping.

    Attributes:
        predicate: as it was given.
        weight: as it was given.
        files_before: files that a scan read before.
        bytes_before: their bytes.
        files_after: files that it reads now; None if the log could not be read after the run.
        bytes_after: their bytes.
        note: parts that didn't affect the layout; empty if all did.
    """

    predicate: str
    weight: float
    files_before: int
    bytes_before: int
    files_after: int | None
    bytes_after: int | None
    note: str = ""

    @classmethod
    def _from_json(cls, query: dict[str, Any]) -> WorkloadResult:
        return cls(
            predicate=query["predicate"],
            weight=query["weight"],
            files_before=query["filesBefore"],
            bytes_before=query["bytesBefore"],
            files_after=query["filesAfter"],
            bytes_after=query["bytesAfter"],
            note=query["note"],
        )

    def _cells(self) -> list[str]:
        return [
            self.predicate,
            f"{self.weight:g}",
            str(self.files_before),
            formatting.size(self.bytes_before),
            "–" if self.files_after is None else str(self.files_after),
            "–" if self.bytes_after is None else formatting.size(self.bytes_after),
            self.note or "–",
        ]


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
        cubes: each planned group of files and its outcome, with the ZCubes that it became.
        kept: for each reason, how many files stayed as they were.
        left_files: files that a size or time budget left. Once nothing that fits pays, a larger
            budget rewrites them, more runs don't.
        left_bytes: their bytes.
        metrics: all metrics of the SQL command, under their SQL names.
        before: the quality before, if ``optimize`` measured it.
        after: the quality after, including concurrent commits.
        workload: what each predicate of the workload reads before and after.
    """

    path: str
    files_removed: int
    files_added: int
    bytes_removed: int
    bytes_added: int
    partitions: int
    cubes: list[CubeResult]
    kept: dict[str, int]
    left_files: int
    left_bytes: int
    metrics: dict[str, Any] = field(repr=False)
    before: ClusteringQuality | None = field(default=None, repr=False)
    after: ClusteringQuality | None = field(default=None, repr=False)
    workload: list[WorkloadResult] = field(default_factory=list)

    @classmethod
    def from_row(
        cls,
        row: Row,
        before: ClusteringQuality | None = None,
        after: ClusteringQuality | None = None,
    ) -> OptimizeResult:
        """Read the row that the SQL command returns; its ``details`` column may be missing."""
        metrics = row["metrics"].asDict(recursive=True)
        text = row.asDict().get("details")
        details = json.loads(text) if text else {}
        left = details.get("left", {"files": 0, "bytes": 0})
        return cls(
            path=row["path"],
            files_removed=metrics["numFilesRemoved"],
            files_added=metrics["numFilesAdded"],
            bytes_removed=metrics["filesRemoved"]["totalSize"] or 0,
            bytes_added=metrics["filesAdded"]["totalSize"] or 0,
            partitions=metrics["partitionsOptimized"],
            cubes=[CubeResult._from_json(cube) for cube in details.get("cubes", [])],
            kept=details.get("kept", {}),
            left_files=left["files"],
            left_bytes=left["bytes"],
            metrics=metrics,
            before=before,
            after=after,
            workload=[WorkloadResult._from_json(query) for query in details.get("workload", [])],
        )

    @property
    def sampling_ms(self) -> int:
        """Milliseconds of sampling, summed over the cubes, of which several run at a time."""
        return sum(cube.sampling_ms for cube in self.cubes)

    @property
    def writing_ms(self) -> int:
        """Milliseconds of writing files, summed over the cubes."""
        return sum(cube.writing_ms for cube in self.cubes)

    @property
    def committing_ms(self) -> int:
        """Milliseconds of the commits, which run one at a time."""
        commits = {cube.version: cube.committing_ms for cube in self.cubes}
        return sum(commits.values())

    @property
    def cpu_ms(self) -> int | None:
        """CPU time of all Spark tasks that sampled and wrote; None if it isn't known for all."""
        known = [cube.cpu_ms for cube in self.cubes if cube.state == "committed"]
        return None if None in known else sum(time or 0 for time in known)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        # Their tables hold a Spark session, so they can't be copied.
        plain = asdict(replace(self, before=None, after=None))
        for name, quality in (("before", self.before), ("after", self.after)):
            plain[name] = quality.to_dict() if quality else None
        for name in ("sampling_ms", "writing_ms", "committing_ms", "cpu_ms"):
            plain[name] = getattr(self, name)
        return plain

    def __str__(self) -> str:
        removed, added = formatting.size(self.bytes_removed), formatting.size(self.bytes_added)
        text = (
            f"{self.path}: {formatting.counted(self.files_removed, 'file')} ({removed}) rewritten "
            f"to {formatting.counted(self.files_added, 'file')} ({added}) in "
            f"{formatting.counted(self.partitions, 'partition')}"
        )
        dropped = sum(cube.state == "dropped" for cube in self.cubes)
        if dropped:
            text += f"; {formatting.counted(dropped, 'group')} dropped after concurrent changes"
        if self.left_files:
            left = formatting.counted(self.left_files, "file")
            text += f"; left for another run: {left} ({formatting.size(self.left_bytes)})"
        text += "".join(
            f"\n{formatting.counted(files, 'file')} as before: {reason}"
            for reason, files in self.kept.items()
            if reason.endswith("until OPTIMIZE FULL")
        )
        if self.files_removed and self.cubes:
            cpu = "–" if self.cpu_ms is None else formatting.seconds(self.cpu_ms)
            text += (
                f"\nsampling {formatting.seconds(self.sampling_ms)}, "
                f"writing {formatting.seconds(self.writing_ms)}, "
                f"committing {formatting.seconds(self.committing_ms)}; CPU time of tasks {cpu}"
            )
        if self.before and self.after:
            was, now = (q.all.depth_and_skipping() for q in (self.before, self.after))
            text += f"\naverage depth {was[0]} → {now[0]}, skipping {was[1]} → {now[1]}"
        if self.workload:
            lines = formatting.table(_QUERIES, [query._cells() for query in self.workload])
            text = "\n".join([text, *lines])
        return text

    def _repr_html_(self) -> str:
        rows = [cube._cells() for cube in self.cubes]
        parts = [f"<p>{html.escape(line)}</p>" for line in str(self).splitlines()]
        if rows:
            parts.append(formatting.html_table(TITLES, rows))
        if self.workload:
            rows = [query._cells() for query in self.workload]
            parts.append(formatting.html_table(_QUERIES, rows))
        if self.before and self.after:
            parts.append(formatting.html_table(_CHANGES, self._changes(self.before, self.after)))
        return "".join(parts)

    def _changes(self, before: ClusteringQuality, after: ClusteringQuality) -> list[list[str]]:
        """The figures of each column, and of all together."""
        # Another writer may have changed the clustering columns meanwhile.
        names = dict.fromkeys(column.column for column in [*before.columns, *after.columns])
        old, new = (
            {row.column: row.depth_and_skipping() for row in [*quality.columns, quality.all]}
            for quality in (before, after)
        )
        rows = []
        for name in [*names, ALL]:
            was, now = old.get(name, _UNKNOWN), new.get(name, _UNKNOWN)
            rows.append([name, was[0], now[0], was[1], now[1]])
        return rows
