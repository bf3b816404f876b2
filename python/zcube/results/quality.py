"""How well a table's files are clustered by some columns."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

from zcube._sql.arguments import predicate_text
from zcube._sql.quoting import folded, name_parts
from zcube.errors import ZCubeError
from zcube.results import formatting

if TYPE_CHECKING:
    from pyspark.sql import Row


# The name of all columns together.
ALL = "*"
_TITLES = (
    "column",
    "files",
    "with stats",
    "average depth",
    "maximum depth",
    "average overlaps",
    "constant",
    "skipping",
)


@dataclass(frozen=True)
class ColumnQuality:
    """The quality in one column, or in all of them together (``column`` is then ``"*"``).

    Averages are over the files with statistics, and None if there are none. A file without
    statistics counts as overlapping everything; a file with only NULLs overlaps nothing.

    Attributes:
        column: its name.
        files: all files.
        files_with_stats: files with a minimum and a maximum.
        average_depth: how many files cover a file's deepest point, itself included, on average. For
            all columns together, the lower corner of its box is used. 1 is best.
        maximum_depth: the largest depth.
        average_overlaps: how many other files overlap a file, on average. 0 is best.
        depth_histogram: depth to number of files.
        constant_files: files with a single value.
        skipping_effectiveness: the share of files that a search for a file's minimum skips, on
            average: 0 to 1, 1 is best.
        notes: remarks about the figures.
    """

    column: str
    files: int
    files_with_stats: int
    average_depth: float | None
    maximum_depth: int | None
    average_overlaps: float | None
    depth_histogram: dict[int, int]
    constant_files: int
    skipping_effectiveness: float | None
    notes: str

    @classmethod
    def _from_row(cls, row: Row) -> ColumnQuality:
        values = {field.name: row[field.name] for field in fields(cls)}
        histogram = dict(sorted(values.pop("depth_histogram").items()))
        return cls(depth_histogram=histogram, **values)

    def depth_and_skipping(self) -> tuple[str, str]:
        """Write the average depth and the skipping effectiveness in readable form."""
        return formatting.number(self.average_depth), formatting.share(self.skipping_effectiveness)

    def _cells(self) -> list[str]:
        depth, skipping = self.depth_and_skipping()
        return [
            self.column,
            str(self.files),
            str(self.files_with_stats),
            depth,
            formatting.number(self.maximum_depth),
            formatting.number(self.average_overlaps),
            str(self.constant_files),
            skipping,
        ]


def _without_session(predicate: str) -> list[str]:
    raise ZCubeError(
        "Figures that were copied or pickled have no session to ask which files "
        f"{predicate!r} reads. Call ClusteredTable.quality() again."
    )


@dataclass(frozen=True)
class ClusteringQuality:
    """What ``ClusteredTable.quality`` found in the log; no data was read for it.

    Attributes:
        columns: the figures of each column.
        all: the figures of all columns together.
        cubes: number of ZCubes by these columns.
        bytes: bytes of all files.
        bytes_in_cubes: bytes of files in those cubes.
        bytes_fresh: bytes of files that are not clustered yet.
        bytes_other_columns: bytes of files that are clustered by other columns.

    Examples:
        >>> quality = table.quality(columns=["x", "y"])  # doctest: +SKIP
        >>> quality.all.average_depth, quality["x"].skipping_effectiveness  # doctest: +SKIP
        (1.3, 0.87)
    """

    columns: list[ColumnQuality]
    all: ColumnQuality
    cubes: int
    bytes: int
    bytes_in_cubes: int
    bytes_fresh: int
    bytes_other_columns: int
    _files_read: Callable[[str], list[str]] = field(repr=False, compare=False)

    @classmethod
    def from_rows(
        cls, rows: Sequence[Row], files_read: Callable[[str], list[str]]
    ) -> ClusteringQuality:
        """Read the rows of DESCRIBE CLUSTERING; one of them is for all columns together."""
        (together,) = [row for row in rows if row["column"] == ALL]
        columns = [ColumnQuality._from_row(row) for row in rows if row["column"] != ALL]
        sizes = {
            name: together[name]
            for name in ("cubes", "bytes", "bytes_in_cubes", "bytes_fresh", "bytes_other_columns")
        }
        return cls(
            columns=columns,
            all=ColumnQuality._from_row(together),
            _files_read=files_read,
            **sizes,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the session, so that the figures can be pickled."""
        return {**self.__dict__, "_files_read": _without_session}

    def __getitem__(self, column: str) -> ColumnQuality:
        """Return the figures of a column, or with ``"*"`` of all columns together.

        Columns are named as for ``ClusteredTable.quality``: quoted or not, ignoring case.
        """
        if column == ALL:
            return self.all
        wanted = _key(column) if isinstance(column, str) else ()
        for figures in self.columns:
            if _key(figures.column) == wanted:
                return figures
        known = ", ".join(figures.column for figures in self.columns)
        raise KeyError(f"There are no figures for {column!r}, only for {known}.")

    def files_read(self, predicate: str) -> list[str]:
        """Return the files that Spark's scan reads for a predicate, as the table is now.

        Delta's data skipping determines them from the log; no data is read.

        Args:
            predicate: SQL on the table's columns, as after WHERE, without subqueries.

        Raises:
            ZCubeError: the predicate is empty.
            AnalysisException: it can't be resolved.

        Examples:
            >>> len(quality.files_read("x BETWEEN 10 AND 20"))  # doctest: +SKIP
            3
        """
        return self._files_read(predicate_text(predicate))

    def violations(
        self, *, max_depth: float | None = None, min_skipping: float | None = None
    ) -> list[str]:
        """Return the bounds that all columns together break; empty if there are none.

        A table without any statistics violates every bound, because nothing can be skipped; a table
        without files violates none.

        Raises:
            ZCubeError: a bound is not a number, or ``min_skipping`` isn't a share from 0 to 1.
        """
        _check_bound("max_depth", max_depth, math.inf)
        _check_bound("min_skipping", min_skipping, 1)
        found: list[str] = []
        depth, skipping = self.all.maximum_depth, self.all.skipping_effectiveness
        if not self.all.files:
            return found
        if max_depth is not None and (depth is None or depth > max_depth):
            shown = formatting.number(depth)
            found.append(f"maximum depth of all columns ({ALL}) is {shown}, over {max_depth:g}")
        if min_skipping is not None and (skipping is None or skipping < min_skipping):
            shown = formatting.number(skipping)
            if skipping is not None and float(shown) >= min_skipping:
                shown = f"{skipping:.6g}"
            found.append(
                f"skipping effectiveness of all columns ({ALL}) is {shown}, under {min_skipping}"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "columns": [asdict(column) for column in self.columns],
            "all": asdict(self.all),
            "cubes": self.cubes,
            "bytes": self.bytes,
            "bytes_in_cubes": self.bytes_in_cubes,
            "bytes_fresh": self.bytes_fresh,
            "bytes_other_columns": self.bytes_other_columns,
        }

    def __str__(self) -> str:
        lines = formatting.table(_TITLES, [column._cells() for column in [*self.columns, self.all]])
        return "\n".join([*lines, self._sizes(), *self._notes()])

    def _repr_html_(self) -> str:
        table = formatting.html_table(
            _TITLES, [column._cells() for column in [*self.columns, self.all]]
        )
        below = "".join(f"<p>{html.escape(line)}</p>" for line in [self._sizes(), *self._notes()])
        return table + below

    def _sizes(self) -> str:
        text = (
            f"{formatting.size(self.bytes)}: {formatting.size(self.bytes_in_cubes)} in "
            f"{formatting.counted(self.cubes, 'cube')}, {formatting.size(self.bytes_fresh)} fresh"
        )
        if self.bytes_other_columns:
            text += f", {formatting.size(self.bytes_other_columns)} by other columns"
        return text

    def _notes(self) -> list[str]:
        return [f"note: {column.notes}" for column in [*self.columns, self.all] if column.notes]


def _check_bound(name: str, bound: float | None, most: float) -> None:
    if bound is None:
        return
    # numpy's numbers are Real, too; those of a Spark row may be Decimal.
    if (
        isinstance(bound, bool)
        or not isinstance(bound, (Real, Decimal))
        or not 0 <= float(bound) <= most
    ):
        upto = "a share from 0 to 1" if most == 1 else "a number of at least 0"
        raise ZCubeError(f"{name} must be {upto}, not {bound!r}.")


def _key(column: str) -> tuple[str, ...]:
    """Return a key that is equal for the names of one column, quoted or not."""
    try:
        return folded(name_parts(column))
    except ZCubeError:
        return ()  # no column has it
