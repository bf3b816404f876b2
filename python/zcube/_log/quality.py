"""Computes DESCRIBE CLUSTERING's figures from minima and maxima, with numpy.

The definitions are those of ``io.zcube.quality.LayoutQuality``, and so are the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zcube.results.quality import ColumnQuality

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_LEAST, _GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_CHUNK = 256


@dataclass(frozen=True)
class FileRanges:
    """Each file's closed interval in one column, as ranks among all its minima and maxima.

    Attributes:
        lower: rank of the minimum; the smallest number for a file that may hold anything.
        upper: rank of the maximum; the largest number for a file that may hold anything.
        known: files with a minimum and a maximum.
        empty: files with only NULLs, which hold no value.
        distinct: the number of distinct ranks.
    """

    lower: Ints
    upper: Ints
    known: Flags
    empty: Flags
    distinct: int

    @classmethod
    def of(
        cls, low: NDArray[Any], high: NDArray[Any], given: Flags, only_nulls: Flags
    ) -> FileRanges:
        """Rank the ends of the files that have both of them (``given``).

        A file whose maximum is below its minimum counts as one that may hold anything.
        """
        known = given.copy()
        known[given] = low[given] <= high[given]
        count = int(known.sum())
        ends, ranks = np.unique(np.concatenate([low[known], high[known]]), return_inverse=True)
        lower = np.full(len(known), _LEAST)
        upper = np.full(len(known), _GREATEST)
        lower[known], upper[known] = ranks[:count], ranks[count:]
        return cls(lower, upper, known, only_nulls & ~given, len(ends))


def of_column(name: str, ranges: FileRanges, notes: str) -> ColumnQuality:
    """Return the figures of one column."""
    depth, overlaps, holding = _sweep(ranges)
    return _quality(name, [ranges], depth, overlaps, holding, notes)


def of_boxes(name: str, columns: Sequence[FileRanges], notes: str) -> ColumnQuality:
    """Return the figures of all columns together; may compare every pair of boxes."""
    if len(columns) == 1:
        _, overlaps, holding = _sweep(columns[0])
    else:
        overlaps, holding = _scan(columns)
    return _quality(name, columns, holding, overlaps, holding, notes)


def _sweep(ranges: FileRanges) -> tuple[Ints, Ints, Ints]:
    """For each file with statistics: depth, overlaps, and the files that contain its minimum."""
    lower, upper = ranges.lower[ranges.known], ranges.upper[ranges.known]
    unknown = int((~ranges.known & ~ranges.empty).sum())
    begun = np.cumsum(np.bincount(lower, minlength=ranges.distinct))
    ended = np.cumsum(np.bincount(upper, minlength=ranges.distinct))
    ended_before = np.concatenate([[0], ended[:-1]]) if len(ended) else ended
    over = begun - ended_before
    overlaps = begun[upper] - ended_before[lower] - 1 + unknown
    # Depth peaks where some interval starts, so checking starts suffices.
    return _run_maxima(over, lower, upper) + unknown, overlaps, over[lower] + unknown


def _run_maxima(values: Ints, first: Ints, last: Ints) -> Ints:
    """Return each run's maximum: that of two runs of a power of two that cover it."""
    if not len(first):
        return first
    levels = [values]
    while 2 ** len(levels) <= len(values):
        below, half = levels[-1], 2 ** (len(levels) - 1)
        levels.append(np.maximum(below[:-half], below[half:]))
    level = np.log2(last - first + 1).astype(np.int64)
    found = np.empty(len(first), np.int64)
    for power in np.unique(level):
        chosen = level == power
        runs = levels[power]
        found[chosen] = np.maximum(runs[first[chosen]], runs[last[chosen] - 2**power + 1])
    return found


def _scan(columns: Sequence[FileRanges]) -> tuple[Ints, Ints]:
    """For each known box: other boxes that overlap it, and boxes that contain its lower corner."""
    some = ~np.logical_or.reduce([ranges.empty for ranges in columns])
    known = np.logical_and.reduce([ranges.known for ranges in columns])
    lower = np.stack([ranges.lower[some] for ranges in columns])
    upper = np.stack([ranges.upper[some] for ranges in columns])
    # A chunk of neighbours is compared only with boxes that overlap its bounding box.
    order = np.lexsort(lower[::-1])
    lower, upper = lower[:, order], upper[:, order]
    queries = np.flatnonzero(known[some][order])
    meeting, holding = np.zeros(len(queries), np.int64), np.zeros(len(queries), np.int64)
    for start in range(0, len(queries), _CHUNK):
        chunk = queries[start : start + _CHUNK]
        low, high = lower[:, chunk], upper[:, chunk]
        near = np.flatnonzero(
            (lower <= high.max(axis=1)[:, None]).all(axis=0)
            & (upper >= low.min(axis=1)[:, None]).all(axis=0)
        )
        meets = np.ones((len(chunk), len(near)), np.bool_)
        holds = meets.copy()
        for d in range(len(columns)):
            above = upper[d, near] >= low[d][:, None]
            meets &= above & (lower[d, near] <= high[d][:, None])
            holds &= above & (lower[d, near] <= low[d][:, None])
        meeting[start : start + len(chunk)] = meets.sum(axis=1)
        holding[start : start + len(chunk)] = holds.sum(axis=1)
    return meeting - 1, holding


def _quality(
    name: str,
    columns: Sequence[FileRanges],
    depth: Ints,
    overlaps: Ints,
    holding: Ints,
    notes: str,
) -> ColumnQuality:
    files = len(columns[0].known)
    known = np.logical_and.reduce([ranges.known for ranges in columns])
    constant = np.logical_and.reduce(
        [ranges.known & (ranges.lower == ranges.upper) for ranges in columns]
    )
    values, counts = np.unique(depth, return_counts=True)
    share = _average(holding)
    return ColumnQuality(
        column=name,
        files=files,
        files_with_stats=int(known.sum()),
        average_depth=_average(depth),
        maximum_depth=int(depth.max()) if len(depth) else None,
        average_overlaps=_average(overlaps),
        depth_histogram=dict(zip(values.tolist(), counts.tolist(), strict=True)),
        constant_files=int(constant.sum()),
        skipping_effectiveness=None if share is None else 1.0 - share / files,
        notes=notes,
    )


def _average(counts: Ints) -> float | None:
    return int(counts.sum()) / len(counts) if len(counts) else None
