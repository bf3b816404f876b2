"""Places minima and maxima along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zcube.plots import chart

if TYPE_CHECKING:
    from zcube._log.files import Axis, Interval

# The first and the last date that axes support, in days since 1970.
_FIRST_DAY, _LAST_DAY = -719_162.0, 2_932_896.0
# Along a longer axis, matplotlib can't place ticks.
_LARGEST = 1e307


def place(
    matplotlib_axis: Any, axis: Axis, ends: Sequence[Any]
) -> tuple[list[Interval[float]], Interval[float]]:
    """Return the positions of the files' ends, and the axis' limits; label its ticks."""
    if axis.kind == "text":
        values = sorted({end for pair in ends for end in pair}, key=lambda v: v.encode("utf-8"))
        places = {value: number for number, value in enumerate(values)}
        chart.names(matplotlib_axis, values)
        limits = (-0.5, max(1, len(values)) - 0.5)
        return [(places[low], places[high]) for low, high in ends], limits
    first, last = (_FIRST_DAY, _LAST_DAY) if axis.kind == "date" else (-_LARGEST, _LARGEST)
    finite = [
        min(max(end, first), last) for pair in ends for end in pair if math.isfinite(end)
    ] or [0.0]
    low, high = min(finite), max(finite)
    # Around a single value there must be more than the next number.
    margin = 0.02 * (high - low) or max(0.5, 1e-9 * abs(high))
    limits = (low - margin, high + margin)
    if axis.kind == "date":
        limits = (max(limits[0], first), min(limits[1], last))
        chart.dates(matplotlib_axis)
    lowest, highest = limits
    return [tuple(min(max(end, lowest), highest) for end in pair) for pair in ends], limits
