"""Draws each file of a table as a rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zcube.errors import ZCubeError
from zcube.plots import chart, scale
from zcube.plots.rectangles import Rectangle, draw, legend, thinned
from zcube.results import formatting
from zcube.results.formatting import counted

if TYPE_CHECKING:
    from zcube._log.files import Axis, FileBounds
    from zcube._log.protocol import TableLog

# The characters of a line that fits, though long texts beside the axis push it to the right.
_MAX_TITLE = 58


def of_table(log: TableLog, x: str, y: str) -> tuple[list[Axis], list[FileBounds]]:
    """Return a table's files and the two axes.

    Raises:
        ZCubeError: a column has no minimum.
    """
    axes, files = log.files([x, y])
    for axis in axes:
        if axis.kind == "none":
            raise ZCubeError(
                f"{axis.name} is {axis.type}; Delta keeps no minimum and maximum of it. Choose "
                "a column of numbers, dates, timestamps or strings."
            )
    return axes, files


def picture(
    axes: Sequence[Axis], files: Sequence[FileBounds], read: Sequence[bool], predicate: str | None
) -> chart.Picture:
    """Draw the files; those that a query must ``read`` are blue."""
    placed = [(box.ends, r) for box, r in zip(files, read, strict=True) if all(box.ends)]
    without = len(files) - len(placed)
    # Those that must be read are what a picture with a predicate is about, and often few.
    (must,), (others,) = (thinned([[box for box in placed if box[1] == r]]) for r in (True, False))
    some = must + others
    figure, (panel,) = chart.picture(1, 1, (6.6, 5.6))
    xs, x_limits = scale.place(panel.xaxis, axes[0], [ends[0] for ends, _ in some])
    ys, y_limits = scale.place(panel.yaxis, axes[1], [ends[1] for ends, _ in some])
    drawn = [
        Rectangle(ends_x, ends_y, r) for ends_x, ends_y, (_, r) in zip(xs, ys, some, strict=True)
    ]
    draw(panel, drawn, x_limits, y_limits)
    panel.set_xlabel(chart.plain(axes[0].label))
    panel.set_ylabel(chart.plain(axes[1].label))
    lines = [f"{counted(len(drawn), 'file')}, each from its minimum to its maximum"]
    if predicate is not None:
        text = formatting.shorten(f"Blue must be read for {predicate}", _MAX_TITLE)
        lines.append(chart.plain(text))
        legend(panel, sum(read), len(read) - sum(read))
    if len(drawn) < len(placed):
        lines[0] = f"{len(drawn)} of {len(placed)} files, each from its minimum to its maximum"
        if predicate is not None and 0 < sum(read) == len(must):
            lines.insert(1, "Among them are all that must be read")
    if without:
        lines.append(_not_drawn(without, files, read, predicate))
    panel.set_title("\n".join(lines), fontsize=11)
    return figure


def _not_drawn(
    without: int, files: Sequence[FileBounds], read: Sequence[bool], predicate: str | None
) -> str:
    line = f"not drawn: {counted(without, 'file')} without a minimum or a maximum"
    if predicate is None:
        return line
    those = sum(r for box, r in zip(files, read, strict=True) if not all(box.ends))
    return f"{line}, {those} read"
