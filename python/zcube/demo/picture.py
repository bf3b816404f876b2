"""Draws the rectangle that each file spans, before and after clustering."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from zcube.demo.file_boxes import overlaps
from zcube.demo.queries import Box


def draw(panels: Sequence[tuple[str, Sequence[Box]]], query: Box, target: Path) -> None:
    """Write a PNG with one panel for each state of the table."""
    from zcube.plots import chart, rectangles

    def rectangle(box: Box) -> rectangles.Rectangle:
        days, parts = [_days(day) for day in box.dates], [part / 1000 for part in box.parts]
        return rectangles.Rectangle(
            (days[0], days[1]), (parts[0], parts[1]), read=overlaps(box, query)
        )

    figure, axes = chart.picture(1, len(panels), (5.2, 5.0), sharey=True)
    dates = (_days(date(1991, 11, 1)), _days(date(1999, 2, 1)))
    for axis, (title, boxes) in zip(axes, panels, strict=True):
        files = [rectangle(box) for box in boxes]
        top = max(box.parts[1] for box in boxes) / 1000 * 1.02
        rectangles.draw(axis, files, dates, (0, top), rectangle(query))
        read = sum(file.read for file in files)
        axis.set_title(f"{title}\n{len(files)} files, {read} read", fontsize=11)
        years = range(1992, 2000)
        axis.set_xticks([_days(date(year, 1, 1)) for year in years], [str(year) for year in years])
        axis.set_xlabel("ship date")
    axes[0].set_ylabel("part key (thousands)")
    figure.suptitle(
        "Each rectangle is one file: the ship dates and part keys between its minima and maxima.\n"
        "Dashed: a query's range. Blue files must be read for it, grey ones are skipped.",
        fontsize=11,
    )
    figure.savefig(target, dpi=chart.DPI)


def _days(day: date) -> int:
    """Return days since 1970, matplotlib's unit for dates."""
    return (day - date(1970, 1, 1)).days
