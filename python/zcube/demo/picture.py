"""Draws which rectangle each file spans, before and after clustering."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from zcube.demo.file_boxes import overlaps
from zcube.demo.queries import Box

# Blue, orange and grey of Okabe and Ito's palette, told apart by colour-blind readers; the query is
# marked by its dashed line as well.
_READ, _SKIPPED, _QUERY = "#0072B2", "#9A9A9A", "#D55E00"


def draw(panels: Sequence[tuple[str, Sequence[Box]]], query: Box, target: Path) -> None:
    """Write a PNG with one panel for each state of the table."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1, len(panels), figsize=(5.2 * len(panels), 5.0), sharey=True, layout="constrained"
    )
    for axis, (title, boxes) in zip(axes, panels, strict=True):
        _panel(axis, title, boxes, query)
    axes[0].set_ylabel("part key (thousands)")
    figure.suptitle(
        "Each rectangle is one file: the ship dates and part keys between its minima and maxima.\n"
        "Dashed: a query's range. Blue files must be read for it, grey ones are skipped.",
        fontsize=11,
    )
    figure.savefig(target, dpi=120)
    plt.close(figure)


def _panel(axis: Any, title: str, boxes: Sequence[Box], query: Box) -> None:
    from matplotlib.patches import Rectangle

    def rectangle(box: Box, inset: float, **style: Any) -> Rectangle:
        left, right = (_days(day) for day in box.dates)
        low, high = box.parts[0] / 1000, box.parts[1] / 1000
        return Rectangle(
            (left + inset, low + inset * (high - low) / 1000),
            right - left - 2 * inset,
            (high - low) * (1 - inset / 500),
            **style,
        )

    read = [box for box in boxes if overlaps(box, query)]
    # Files on top of each other stay light enough for the query's mark to be seen.
    shade = min(0.14, 0.6 / len(boxes)) if len(read) == len(boxes) else 0.14
    for box in sorted(boxes, key=lambda b: overlaps(b, query)):
        colour = _READ if overlaps(box, query) else _SKIPPED
        axis.add_patch(rectangle(box, 4, facecolor=colour, alpha=shade, edgecolor="none"))
        axis.add_patch(rectangle(box, 4, fill=False, edgecolor=colour, linewidth=1.1))
    axis.add_patch(rectangle(query, 0, fill=False, edgecolor=_QUERY, linewidth=2.2, linestyle="--"))
    axis.set_title(f"{title}\n{len(boxes)} files, {len(read)} read", fontsize=11)
    axis.set_xlim(date(1991, 11, 1), date(1999, 2, 1))
    axis.set_ylim(0, max(box.parts[1] for box in boxes) / 1000 * 1.02)
    axis.set_xticks([date(year, 1, 1) for year in range(1992, 2000)], range(1992, 2000))
    axis.set_xlabel("ship date")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _days(day: date) -> int:
    """Matplotlib's unit of dates: days since 1970."""
    return (day - date(1970, 1, 1)).days
