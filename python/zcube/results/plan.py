"""What an OPTIMIZE would do."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from zcube.results import formatting
from zcube.results.quality import ALL

if TYPE_CHECKING:
    from pyspark.sql import Row

_TITLES = ("", "files", "read", "write", "reasons")


@dataclass(frozen=True)
class PlannedFile:
    """A file of the table, with the reason why it is rewritten or not.

    Attributes:
        path: as in the log.
        reason: a short text, such as ``fresh``.
        bytes: size of its rows that are not deleted.
    """

    path: str
    reason: str
    bytes: int


@dataclass(frozen=True)
class PlannedCube:
    """A group of files that would become a ZCube, or several if above ``targetCubeSize``.

    Attributes:
        number: of its first cube; starts at 1, the most useful group first.
        partition: the partition that contains it.
        reasons: number of files by reason.
        bytes_read: bytes of its files.
        bytes_written: bytes of the rows that are not deleted, which is about what will be written.
        files: the files to rewrite.
    """

    number: int
    partition: dict[str, str | None]
    reasons: dict[str, int]
    bytes_read: int
    bytes_written: int
    files: list[PlannedFile]


@dataclass(frozen=True)
class ColumnForecast:
    """How well files are clustered by a column, now and after the run.

    Attributes:
        column: its name; ``*`` for all columns together.
        average_depth_before: as ``quality`` measures it.
        average_depth_after: the predicted value.
        skipping_before: skipping effectiveness, 0 to 1, as ``quality`` measures it.
        skipping_after: the predicted value.
    """

    column: str
    average_depth_before: float | None
    average_depth_after: float | None
    skipping_before: float | None
    skipping_after: float | None


@dataclass(frozen=True)
class Forecast:
    """The expected benefit and cost of a run.

    Attributes:
        files_before: number of files in the table.
        files_after: number of files in the table after the run.
        cpu_time_ms: CPU time of all cores, at the rate of this table's earlier runs; None if no
            commit in the log has its CPU time yet.
        earlier_runs: number of commits that the estimate is based on.
        rows: number of rows to rewrite; None if no data was read.
        sampled_rows: how many of them were sampled; None if no data was read.
        quality: for each clustering column, and ``*`` for all; None if no data was read.
    """

    files_before: int
    files_after: int
    cpu_time_ms: int | None
    earlier_runs: int
    rows: int | None
    sampled_rows: int | None
    quality: list[ColumnForecast] | None

    @property
    def all(self) -> ColumnForecast | None:
        """The prediction for all clustering columns together."""
        return next((found for found in self.quality or () if found.column == ALL), None)

    @classmethod
    def from_row(cls, row: Row) -> Forecast:
        """Read the column ``forecast`` of OPTIMIZE … DRY RUN."""
        values = row.asDict(recursive=True)
        columns = values.pop("quality")
        quality = None if columns is None else [ColumnForecast(**column) for column in columns]
        return cls(**values, quality=quality)

    def __str__(self) -> str:
        text = f"files of the table: {self.files_before} → {self.files_after}"
        if self.all is not None:
            text += (
                f"; depth {formatting.number(self.all.average_depth_before)} → "
                f"{formatting.number(self.all.average_depth_after)}, "
                f"skipping {formatting.number(self.all.skipping_before)} → "
                f"{formatting.number(self.all.skipping_after)}"
            )
        if self.cpu_time_ms == 0:
            return text
        if self.cpu_time_ms is None:
            return f"{text}; CPU time: no history yet"
        seconds = formatting.number(self.cpu_time_ms / 1000)
        commits = formatting.counted(self.earlier_runs, "earlier commit")
        return f"{text}; CPU time: about {seconds} s, by {commits}"


@dataclass(frozen=True)
class OptimizePlan:
    """The plan that ``ClusteredTable.optimize(dry_run=True)`` made; nothing was written.

    Attributes:
        cubes: the groups of files to rewrite, each of which becomes a cube, or several.
        left: files that a budget leaves for another run; of more than 10,000, the first.
        stay: files that ``where`` selects and that don't need rewriting; of more than 10,000 for
            one reason, the first.
        left_reasons: number of files that a budget leaves, by reason. All are counted.
        stay_reasons: number of files that ``where`` selects and that stay, by reason. All are
            counted.
        forecast: the expected benefit and cost of the run.

    Examples:
        >>> print(table.optimize(dry_run=True))  # doctest: +SKIP
        2 files (1.1 GiB) to rewrite, about 1.0 GiB to write, in 1 group; 31 files stay
        ...
        files of the table: 33 → 33; CPU time: about 41 s, by 6 earlier commits
    """

    cubes: list[PlannedCube]
    left: list[PlannedFile]
    stay: list[PlannedFile]
    left_reasons: dict[str, int]
    stay_reasons: dict[str, int]
    forecast: Forecast

    @property
    def bytes_read(self) -> int:
        """Bytes of the files to rewrite."""
        return sum(cube.bytes_read for cube in self.cubes)

    @property
    def bytes_written(self) -> int:
        """The approximate number of bytes that would be written."""
        return sum(cube.bytes_written for cube in self.cubes)

    @classmethod
    def from_rows(cls, rows: Sequence[Row]) -> OptimizePlan:
        """Read the rows of OPTIMIZE … DRY RUN."""
        cubes = [
            PlannedCube(
                number=row["cube"],
                partition=row["partition"],
                reasons=row["reasons"],
                bytes_read=row["bytes_read"],
                bytes_written=row["bytes_written"],
                files=_files(row),
            )
            for row in rows
            if row["action"] == "rewrite"
        ]
        # Files that WHERE excludes are counted in a row that lists none.
        left, stay = (
            [row for row in rows if row["action"] == action and row["file_list"]]
            for action in ("leave", "stay")
        )
        (forecast,) = [row["forecast"] for row in rows if row["action"] == "forecast"]
        return cls(
            cubes=cubes,
            left=[file for row in left for file in _files(row)],
            stay=[file for row in stay for file in _files(row)],
            left_reasons=_counts(left),
            stay_reasons=_counts(stay),
            forecast=Forecast.from_row(forecast),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        sums = {"bytes_read": self.bytes_read, "bytes_written": self.bytes_written}
        return asdict(self) | sums

    def _summary(self) -> str:
        files = sum(len(cube.files) for cube in self.cubes)
        left, stay = sum(self.left_reasons.values()), sum(self.stay_reasons.values())
        text = (
            f"{formatting.counted(files, 'file')} ({formatting.size(self.bytes_read)}) to rewrite, "
            f"about {formatting.size(self.bytes_written)} to write, in "
            f"{formatting.counted(len(self.cubes), 'group')}"
        )
        if left:
            size = formatting.size(sum(file.bytes for file in self.left))
            # Of files that aren't listed, the size isn't known.
            known = f" ({size})" if left == len(self.left) else ""
            text += f"; {formatting.counted(left, 'file')}{known} over the budget"
        verb = "stays" if stay == 1 else "stay"
        return f"{text}; {formatting.counted(stay, 'file')} {verb}"

    def _rows(self) -> list[list[str]]:
        rows = [
            [
                f"group {number}",
                str(len(cube.files)),
                formatting.size(cube.bytes_read),
                formatting.size(cube.bytes_written),
                _reasons(cube.reasons),
            ]
            for number, cube in enumerate(self.cubes, start=1)
        ]
        for name, reasons in (("left", self.left_reasons), ("stay", self.stay_reasons)):
            if reasons:
                rows.append([name, str(sum(reasons.values())), "–", "–", _reasons(reasons)])
        return rows

    def __str__(self) -> str:
        lines = formatting.table(_TITLES, self._rows()) if self._rows() else []
        return "\n".join([self._summary(), *lines, str(self.forecast)])

    def _repr_html_(self) -> str:
        table = formatting.html_table(_TITLES, self._rows())
        return (
            f"<p>{html.escape(self._summary())}</p>{table}<p>{html.escape(str(self.forecast))}</p>"
        )


def _files(row: Row) -> list[PlannedFile]:
    return [PlannedFile(f["path"], f["reason"], f["bytes"]) for f in row["file_list"]]


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    # Each row has another reason.
    return {reason: files for row in rows for reason, files in row["reasons"].items()}


def _reasons(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {reason}" for reason, count in ordered)
