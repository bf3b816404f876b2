"""What an OPTIMIZE did with a group of files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zcube.results import formatting

TITLES = (
    *("cube", "state", "files", "bytes", "files added", "bytes added", "depth", "skipping"),
    *("sampling", "writing", "committing", "reasons"),
)


@dataclass(frozen=True)
class CubeResult:
    """The outcome of a planned group of files, which becomes a ZCube, or several.

    Attributes:
        state: ``committed``; ``dropped``, after a concurrent change to its files; or ``left``, when
            time ran out.
        files: files that were to be rewritten.
        bytes: their bytes.
        reasons: number of files by reason, such as ``{"fresh": 3, "small cube": 8}``.
        partition: the partition that contains them.
        files_added: files written in their place; 0 unless committed.
        bytes_added: their bytes.
        id: the first ZCube's id, if committed.
        ids: the ids of all of them.
        version: the table version that added it, if committed.
        why: why it was not committed, if so.
        sampling_ms: milliseconds until its layout was computed.
        writing_ms: milliseconds of writing its files.
        committing_ms: milliseconds of its commit; cubes of one commit share it.
        cpu_ms: CPU time of its Spark tasks; None if Spark reported it too late.
        average_depth_before: of the files to be rewritten, among themselves, in all clustering
            columns together; None unless committed, or if the table has more than 100,000 files.
        average_depth_after: of the files written in their place, among themselves.
        skipping_before: skipping effectiveness of the former, as ``quality`` measures it.
        skipping_after: skipping effectiveness of the files written.
    """

    state: str
    files: int
    bytes: int
    reasons: dict[str, int]
    partition: dict[str, str | None]
    files_added: int = 0
    bytes_added: int = 0
    id: str | None = None
    ids: tuple[str, ...] = ()
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
            ids=tuple(cube.get("ids", ())),
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
            self.id or "–" if len(self.ids) < 2 else f"{self.id} and {len(self.ids) - 1} more",
            f"{self.state}: {self.why}" if self.why else self.state,
            str(self.files),
            formatting.size(self.bytes),
            str(self.files_added),
            formatting.size(self.bytes_added),
            " → ".join(formatting.number(depth) for depth in depths),
            " → ".join(formatting.share(share) for share in shares),
            *(formatting.seconds(time) for time in times),
            ", ".join(f"{count} {reason}" for reason, count in self.reasons.items()),
        ]
