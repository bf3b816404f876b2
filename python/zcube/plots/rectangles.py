"""Draws files as rectangles over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from zcube.plots.chart import BLUE, GREY, VERMILION
from zcube.results.formatting import counted

if TYPE_CHECKING:
    from zcube._log.files import Interval

# The gap between neighbours, as a share of the panel, so that adjacent edges stay visible.
_GAP = 0.0015
_MIN_WIDTH = 0.004
_MAX_DRAWN = 20_000

T = TypeVar("T")


@dataclass(frozen=True)
class Rectangle:
    """A file, or a query's range, in the panel's units.

    Attributes:
        x: its ends along the first column.
        y: its ends along the second column.
        read: whether a query must read it; blue if so, otherwise grey.
    """

    x: Interval[float]
    y: Interval[float]
    read: bool = True


def thinned(groups: Sequence[list[T]]) -> list[list[T]]:
    """Return every n-th file of each group, so that at most about 20,000 are left."""
    step = -(-sum(map(len, groups)) // _MAX_DRAWN) or 1
    return [group[::step] for group in groups]


def draw(
    panel: Any,
    rectangles: Sequence[Rectangle],
    x: Interval[float],
    y: Interval[float],
    query: Rectangle | None = None,
) -> None:
    """Fill a matplotlib panel that shows ``x`` and ``y``; files that must be read are on top.

    Overlapping rectangles stay light enough for all of them to be visible.
    """
    from matplotlib.collections import PolyCollection

    panel.set_xlim(*x)
    panel.set_ylim(*y)
    shades = _shades(rectangles, x, y)
    width = max(0.3, min(1.1, 30 / max(1, len(rectangles)) ** 0.5))
    for read, colour in ((False, GREY), (True, BLUE)):
        corners = [_corners(rectangle, x, y) for rectangle in rectangles if rectangle.read == read]
        faces = [
            (colour, s)
            for rectangle, s in zip(rectangles, shades, strict=True)
            if rectangle.read == read
        ]
        if corners:
            layer = 2 if read else 1
            panel.add_collection(
                PolyCollection(corners, facecolors=faces, edgecolors="none", zorder=layer),
                autolim=False,
            )
            panel.add_collection(
                PolyCollection(
                    corners, facecolors="none", edgecolors=colour, linewidths=width, zorder=layer
                ),
                autolim=False,
            )
    if query is not None:
        (left, right), (low, high) = query.x, query.y
        outline = [(left, low), (right, low), (right, high), (left, high), (left, low)]
        panel.plot(*zip(*outline, strict=True), color=VERMILION, lw=2.2, ls="--", zorder=3)


def legend(panel: Any, read: int, skipped: int) -> None:
    """Add a legend with the numbers of files, those that aren't drawn included."""
    from matplotlib.patches import Patch

    panel.legend(
        handles=[
            Patch(facecolor=BLUE, alpha=0.5, edgecolor=BLUE, label=_label(read, "read")),
            Patch(
                facecolor=GREY,
                alpha=0.5,
                edgecolor=GREY,
                label=_label(skipped, "skipped"),
            ),
        ],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.12),
        ncols=2,
        frameon=False,
    )


def _label(count: int, state: str) -> str:
    return f"{counted(count, 'file')} {'is' if count == 1 else 'are'} {state}"


def _shades(rectangles: Sequence[Rectangle], x: Interval[float], y: Interval[float]) -> list[float]:
    """Return each rectangle's opacity: a file that covers everything stays light.

    The more rectangles overlap on average, the lighter all of them are.
    """
    shares = [_share(rectangle.x, x) * _share(rectangle.y, y) for rectangle in rectangles]
    layers = max(1e-9, sum(shares))
    base, extra = 0.02 * min(1.0, 20 / layers), 0.3 * min(1.0, 3 / layers)
    return [max(0.004, base + extra * (1 - share) ** 2) for share in shares]


def _share(ends: Interval[float], limits: Interval[float]) -> float:
    within = max(0.0, min(ends[1], limits[1]) - max(ends[0], limits[0]))
    return within / (limits[1] - limits[0])


def _corners(
    rectangle: Rectangle, x: Interval[float], y: Interval[float]
) -> list[tuple[float, float]]:
    left, right = _visible(rectangle.x, x)
    low, high = _visible(rectangle.y, y)
    return [(left, low), (right, low), (right, high), (left, high)]


def _visible(ends: Interval[float], limits: Interval[float]) -> Interval[float]:
    """Keep a gap to the neighbours; widen what would be too thin to see."""
    whole = limits[1] - limits[0]
    low, high = max(ends[0], limits[0]), min(ends[1], limits[1])
    if high - low >= (2 * _GAP + _MIN_WIDTH) * whole:
        return low + _GAP * whole, high - _GAP * whole
    middle = (low + high) / 2
    half = max(_MIN_WIDTH * whole, high - low) / 2
    return middle - half, middle + half
