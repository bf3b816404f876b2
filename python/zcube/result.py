"""What an OPTIMIZE did."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zcube import _format

if TYPE_CHECKING:
    from pyspark.sql import Row

    from zcube.quality import ClusteringQuality

_TITLES = (
    *("cube", "state", "files", "bytes", "files added", "bytes added", "depth", "skipping"),
    *("sampling", "writing", "committing", "reasons"),
)
_CHANGES = ("column", "average depth before", "after", "skipping before", "after")


@dataclass(frozen=True)
class CubeResult:
    """What became of one planned ZCube.

    Attributes:
        state: ``committed``; ``dropped``, after a concurrent change to its files; or ``left``, as
            time was up.
        files: files that were to be rewritten.
        bytes: their bytes.
        reasons: how many of them for which reason, such as ``{"fresh": 3, "small cube": 8}``.
        partition: the partition they are in.
        files_added: files written in their place; 0 unless committed.
        bytes_added: their bytes.
        id: the ZCube's id, if committed.
        version: the table's version that has it, if committed.
        why: the reason, unless committed.
        sampling_ms: milliseconds until its layout was known.
        writing_ms: of writing its files.
        committing_ms: of its commit; cubes of one commit share it.
        cpu_ms: CPU time of its Spark tasks; None if Spark told it too late.
        average_depth_before: of the files to be rewritten, among themselves, in all clustering
            columns together; None unless committed, or where the table has more than 100,000 files.
        average_depth_after: of the files written in their place, among themselves.
        skipping_before: their skipping effectiveness, as ``quality`` has it.
        skipping_after: that of the files written.
    """

    state: str
    files: int
    bytes: int
    reasons: dict[str, int]
    partition: dict[str, str]
    files_added: int = 0
    bytes_added: int = 0
    id: str | None = None
    version: int | None = None
    why: str | None = None
    sampling_ms: int = 0
    writing_ms: int = 0
    committing_ms: int = 0
    cpu_ms: int | None = None
    average_depth_before: float | None = None
    average_depth_after: float | None = None
    skipping_before: float | None = None
    skipping_after: float | None = None

    @classmethod
    def _from_json(cls, cube: dict[str, Any]) -> CubeResult:
        before, after = cube.get("before", {}), cube.get("after", {})
        return cls(
            state=cube["state"],
            files=cube["files"],
            bytes=cube["bytes"],
            reasons=cube["reasons"],
            partition=cube["partition"],
            files_added=cube.get("filesAdded", 0),
            bytes_added=cube.get("bytesAdded", 0),
            id=cube.get("id"),
            version=cube.get("version"),
            why=cube.get("why"),
            sampling_ms=cube.get("samplingMs", 0),
            writing_ms=cube.get("writingMs", 0),
            committing_ms=cube.get("committingMs", 0),
            cpu_ms=cube.get("cpuMs"),
            average_depth_before=before.get("averageDepth"),
            average_depth_after=after.get("averageDepth"),
            skipping_before=before.get("skippingEffectiveness"),
            skipping_after=after.get("skippingEffectiveness"),
        )

    def _cells(self) -> list[str]:
        depths = (self.average_depth_before, self.average_depth_after)
        shares = (self.skipping_before, self.skipping_after)
        times = (self.sampling_ms, self.writing_ms, self.committing_ms)
        return [
            self.id or "–",
            f"{self.state}: {self.why}" if self.why else self.state,
            str(self.files),
            _format.size(self.bytes),
            str(self.files_added),
            _format.size(self.bytes_added),
            " → ".join(_format.number(depth) for depth in depths),
            " → ".join(_format.share(share) for share in shares),
            *(_format.seconds(time) for time in times),
            ", ".join(f"{count} {reason}" for reason, count in self.reasons.items()),
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
        cubes: each planned ZCube and what became of it.
        kept: how many files stayed as they were, for which reason.
        left_files: files that a budget or the time left for another run.
        left_bytes: their bytes.
        metrics: all metrics of the SQL command, under their own names.
        before: the quality before, if ``optimize`` was asked to measure it.
        after: the quality after; what others committed meanwhile is in it too.
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

    @classmethod
    def from_row(
        cls,
        row: Row,
        before: ClusteringQuality | None = None,
        after: ClusteringQuality | None = None,
    ) -> OptimizeResult:
        """Read the one row that the SQL command returns; its ``details`` column may be missing."""
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
        )

    @property
    def sampling_ms(self) -> int:
        """Milliseconds of sampling, summed over the cubes, several of which run at a time."""
        return sum(cube.sampling_ms for cube in self.cubes)

    @property
    def writing_ms(self) -> int:
        """Milliseconds of writing files, summed over the cubes."""
        return sum(cube.writing_ms for cube in self.cubes)

    @property
    def committing_ms(self) -> int:
        """Milliseconds of the commits, of which there is one at a time."""
        commits = {cube.version: cube.committing_ms for cube in self.cubes}
        return sum(commits.values())

    @property
    def cpu_ms(self) -> int | None:
        """CPU time of all Spark tasks that sampled and wrote; None if it isn't known of all."""
        known = [cube.cpu_ms for cube in self.cubes if cube.state == "committed"]
        return None if None in known else sum(time or 0 for time in known)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        # Their tables, which hold a Spark session, can't be copied.
        plain = asdict(replace(self, before=None, after=None))
        for name, quality in (("before", self.before), ("after", self.after)):
            plain[name] = quality.to_dict() if quality else None
        for name in ("sampling_ms", "writing_ms", "committing_ms", "cpu_ms"):
            plain[name] = getattr(self, name)
        return plain

    def __str__(self) -> str:
        text = (
            f"{self.path}: {self.files_removed} files ({_mib(self.bytes_removed)}) rewritten to "
            f"{self.files_added} files ({_mib(self.bytes_added)}) in {self.partitions} partition(s)"
        )
        dropped = sum(cube.state == "dropped" for cube in self.cubes)
        if dropped:
            text += f"; {dropped} cube(s) dropped after concurrent changes"
        if self.left_files:
            text += f"; left for another run: {self.left_files} files ({_mib(self.left_bytes)})"
        if self.files_removed and self.cubes:
            cpu = "–" if self.cpu_ms is None else _format.seconds(self.cpu_ms)
            text += (
                f"\nsampling {_format.seconds(self.sampling_ms)}, "
                f"writing {_format.seconds(self.writing_ms)}, "
                f"committing {_format.seconds(self.committing_ms)}; CPU time of tasks {cpu}"
            )
        if self.before and self.after:
            one, other = (q.all.depth_and_skipping() for q in (self.before, self.after))
            text += f"\naverage depth {one[0]} → {other[0]}, skipping {one[1]} → {other[1]}"
        return text

    def _repr_html_(self) -> str:
        rows = [cube._cells() for cube in self.cubes]
        parts = [f"<p>{html.escape(line)}</p>" for line in str(self).splitlines()]
        if rows:
            parts.append(_format.html_table(_TITLES, rows))
        if self.before and self.after:
            parts.append(_format.html_table(_CHANGES, self._changes(self.before, self.after)))
        return "".join(parts)

    def _changes(self, before: ClusteringQuality, after: ClusteringQuality) -> list[list[str]]:
        """Of each column, and of all together."""
        rows = []
        for one, other in zip(
            [*before.columns, before.all], [*after.columns, after.all], strict=True
        ):
            was, now = one.depth_and_skipping(), other.depth_and_skipping()
            rows.append([one.column, was[0], now[0], was[1], now[1]])
        return rows


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
