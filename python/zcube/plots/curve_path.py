"""The path of each ZCube's curve: its files, their order, and the drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zcube.errors import ZCubeError
from zcube.plots import chart, scale
from zcube.plots.rectangles import Rectangle, thinned
from zcube.plots.rectangles import draw as draw_boxes
from zcube.results.formatting import counted

if TYPE_CHECKING:
    from zcube._log.files import Axis, FileBounds, Interval

_MAX_CUBES = 6


@dataclass(frozen=True)
class CubePath:
    """A cube and its files, in the order of the curve.

    Attributes:
        cube: its id.
        files: those to draw.
        count: the number of all its files.
    """

    cube: str
    files: list[FileBounds]
    count: int


def picture(axes: Sequence[Axis], files: Sequence[FileBounds]) -> chart.Picture:
    """Draw the path of each cube, and the files of others in grey.

    Raises:
        ZCubeError: no file belongs to a ZCube, or none of them can be placed.
    """
    found, others = ways(files)
    if not found:
        raise ZCubeError(_why_none(axes, files))
    *paths, rest = thinned([*(way.files for way in found), others])
    drawn = [replace(way, files=path) for way, path in zip(found, paths, strict=True)]
    placed = [box for way in drawn for box in way.files] + rest
    figure, (panel,) = chart.picture(1, 1, (6.6, 5.6))
    xs, x_limits = scale.place(panel.xaxis, axes[0], [box.ends[0] for box in placed])
    ys, y_limits = scale.place(panel.yaxis, axes[1], [box.ends[1] for box in placed])
    draw(panel, drawn, list(zip(xs, ys, strict=True)), x_limits, y_limits)
    panel.set_xlabel(chart.plain(axes[0].label))
    panel.set_ylabel(chart.plain(axes[1].label))
    without = sum(not all(box.ends) for box in files)
    panel.set_title(title(drawn, len(others), len(rest), without), fontsize=11)
    return figure


def _why_none(axes: Sequence[Axis], files: Sequence[FileBounds]) -> str:
    in_cubes = [box for box in files if box.cube is not None]
    if not in_cubes:
        return (
            "No file of the table belongs to a ZCube. OPTIMIZE it by columns first; Delta's own "
            "ZORDER BY leaves no order in the log."
        )
    if not any(all(box.ends) for box in in_cubes):
        names = " and ".join(axis.name for axis in axes)
        return (
            f"No file of a ZCube has a minimum and a maximum in both {names}. Choose columns that "
            "have statistics."
        )
    return (
        "The names of the ZCubes' files don't tell their order, as those that Spark writes do: "
        "part-00007-…. Another program may have copied the table."
    )


def ways(boxes: Iterable[FileBounds]) -> tuple[list[CubePath], list[FileBounds]]:
    """Return the largest cubes, in descending order of size, and all other files that have ends."""
    cubes: dict[str, list[FileBounds]] = {}
    others = []
    for box in boxes:
        if not all(box.ends):
            continue
        if box.cube is None or box.place is None:
            others.append(box)
        else:
            cubes.setdefault(box.cube, []).append(box)
    by_size = sorted(cubes.items(), key=lambda item: (-len(item[1]), item[0]))
    for _, rest in by_size[_MAX_CUBES:]:
        others += rest
    found = [
        CubePath(cube, sorted(files, key=lambda box: (box.place, box.path)), len(files))
        for cube, files in by_size[:_MAX_CUBES]
    ]
    return found, others


def draw(
    panel: Any,
    found: Sequence[CubePath],
    ends: Sequence[tuple[Interval[float], Interval[float]]],
    x: Interval[float],
    y: Interval[float],
) -> None:
    """Draw the files' boxes in grey, and over them a line for each cube.

    Args:
        panel: of matplotlib, showing ``x`` and ``y``.
        found: the cubes.
        ends: of each file in the panel's units: the cubes' files in order, then all others.
        x: the limits of the first axis.
        y: the limits of the second.
    """
    draw_boxes(panel, [Rectangle(*pair, read=False) for pair in ends], x, y)
    start = 0
    for number, (way, (colour, marker)) in enumerate(
        zip(found, chart.series(len(found)), strict=True), start=1
    ):
        own = ends[start : start + len(way.files)]
        start += len(way.files)
        middles = [(sum(of_x) / 2, sum(of_y) / 2) for of_x, of_y in own]
        width = max(0.7, min(1.8, 20 / len(own) ** 0.5))
        panel.plot(
            *zip(*middles, strict=True),
            color=colour,
            lw=width,
            zorder=3,
            solid_joinstyle="round",
            label=f"cube {number}: {counted(way.count, 'file')}",
        )
        panel.plot(*middles[0], color=colour, marker=marker, ms=7, zorder=4)
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, frameon=False)


def title(found: Sequence[CubePath], others: int, drawn: int, without: int) -> str:
    """Return a title that says what is drawn and what isn't.

    Args:
        found: the cubes.
        others: the number of files of smaller cubes or of none.
        drawn: how many of these are drawn.
        without: the number of files without a minimum or a maximum.
    """
    count = sum(way.count for way in found)
    on_paths = sum(len(way.files) for way in found)
    lines = [f"The order of {counted(count, 'file')} in {counted(len(found), 'ZCube')}"]
    if on_paths < count:
        lines[0] += f"; lines join {on_paths} of them"
    if others:
        verb = "has" if others == 1 else "have"
        some = "" if drawn == others else f"; {drawn} drawn"
        lines.append(f"{counted(others, 'file')} of smaller cubes or of none {verb} no line{some}")
    if without:
        lines.append(f"not drawn: {counted(without, 'file')} without a minimum or a maximum")
    return "\n".join(lines)
