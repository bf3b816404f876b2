"""Quality of a layout by its definitions, over all pairs of files and all points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

UNKNOWN = "unknown"
NULLS = "nulls"
Extent = Any
"""A pair (minimum, maximum), UNKNOWN, or NULLS for a file that holds nothing but NULL."""


def holds(extent: Extent, point: Any) -> bool:
    if extent in (UNKNOWN, NULLS):
        return bool(extent == UNKNOWN)
    return bool(extent[0] <= point <= extent[1])


def meet(extent: Extent, other: Extent) -> bool:
    if NULLS in (extent, other):
        return False
    if UNKNOWN in (extent, other):
        return True
    return bool(max(extent[0], other[0]) <= min(extent[1], other[1]))


def column(extents: Sequence[Extent]) -> dict[str, Any]:
    """The figures of one column. The depth peaks where some file begins."""
    known = [e for e in extents if e not in (UNKNOWN, NULLS)]
    starts = sorted({e[0] for e in known})
    depths = [
        max(sum(holds(other, p) for other in extents) for p in starts if holds(extent, p))
        for extent in known
    ]
    corner = [sum(holds(other, extent[0]) for other in extents) for extent in known]
    overlaps = [sum(meet(extent, other) for other in extents) - 1 for extent in known]
    constant = sum(extent[0] == extent[1] for extent in known)
    return figures(len(extents), depths, overlaps, corner, constant)


def boxes(columns: Sequence[Sequence[Extent]]) -> dict[str, Any]:
    """The figures of all columns together."""
    files = list(zip(*columns, strict=True))
    known = [box for box in files if not any(e in (UNKNOWN, NULLS) for e in box)]

    def over(point: list[Any]) -> int:
        return sum(all(holds(e, p) for e, p in zip(box, point, strict=True)) for box in files)

    corner = [over([extent[0] for extent in box]) for box in known]
    overlaps = [
        sum(all(meet(a, b) for a, b in zip(box, other, strict=True)) for other in files) - 1
        for box in known
    ]
    constant = sum(all(e[0] == e[1] for e in box) for box in known)
    return figures(len(files), corner, overlaps, corner, constant)


def figures(files: int, depths: list, overlaps: list, corner: list, constant: int) -> dict:
    def mean(values: list) -> float | None:
        return sum(values) / len(values) if values else None

    share = mean(corner)
    return {
        "files": files,
        "files_with_stats": len(depths),
        "average_depth": mean(depths),
        "maximum_depth": max(depths, default=None),
        "average_overlaps": mean(overlaps),
        "depth_histogram": dict(sorted(Counter(depths).items())),
        "constant_files": constant,
        "skipping_effectiveness": None if share is None else 1 - share / files,
    }
