"""Pictures of how a table is laid out.

Each function returns a matplotlib ``Figure``: notebooks show it, and
``figure.savefig("picture.png")`` writes it. matplotlib comes with ``pip install 'zcube[plots]'``.
The palette is Okabe and Ito's, which is colour-blind safe.

>>> from zcube import plots
>>> plots.boxes(table, "x", "y", predicate="x = 5").savefig("boxes.png")  # doctest: +SKIP
>>> plots.depth_histogram(table.quality())  # doctest: +SKIP
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from zcube._log.files import mark
from zcube.errors import ZCubeError
from zcube.plots.versions import measure
from zcube.results.quality import check_predicate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zcube._log.files import Axis, FileBounds
    from zcube._log.protocol import TableLog
    from zcube.plots.rectangles import Interval, Rectangle
    from zcube.results.quality import ClusteringQuality, ColumnQuality

_MAX_BOXES = 20_000
_MAX_BARS = 60
# The first and the last date that axes support, in days since 1970.
_FIRST_DAY, _LAST_DAY = -719_162.0, 2_932_896.0


def boxes(table: TableLog, x: str, y: str, *, predicate: str | None = None) -> Figure:
    """Draw each file as the rectangle between its minima and maxima in two columns.

    Well clustered files tile the plane; a query for a point where files overlap must read all of
    them. The rectangles come from the statistics in Delta's log; no data is read. Strings are drawn
    in their order, at equal distances. Above 20,000 files only some are drawn, and the title says
    so.

    Args:
        table: a Delta table in a classic session; Spark Connect can't show the log.
        x: the horizontal column; ``"a.b"`` is a nested field.
        y: the vertical column.
        predicate: as after WHERE; files that a scan with it must read are blue, the rest grey.

    Raises:
        ZCubeError: matplotlib is missing, a column is unknown or has no minimum, or the session
            uses Spark Connect.

    Examples:
        >>> plots.boxes(table, "day", "user", predicate="user < 9")  # doctest: +SKIP
    """
    chart = matplotlib_chart()
    axes, files = _boxes_of(table, x, y)
    read = [True] * len(files)
    if predicate is not None:
        read = mark(files, table.files_read(check_predicate(predicate)))
    return _boxes(chart, axes, files, read, predicate)


def curve_order(table: TableLog, x: str, y: str) -> Figure:
    """Draw the path along which each ZCube's files were laid out, over two columns.

    A Hilbert curve appears as a path without jumps, a Z-order as a path of Zs. Lines connect the
    centres of neighbouring files, and a mark shows the first file of a cube. Each of the six
    largest cubes has its own colour; all other files are grey without a line. No data is read.

    Args:
        table: a Delta table in a classic session; Spark Connect can't show the log.
        x: the horizontal column; ``"a.b"`` is a nested field.
        y: the vertical column.

    Raises:
        ZCubeError: as for ``boxes``, or no file belongs to a ZCube.

    Examples:
        >>> plots.curve_order(table, "l_shipdate", "l_partkey")  # doctest: +SKIP
    """
    from zcube.plots import curve_path

    chart = matplotlib_chart()
    axes, files = _boxes_of(table, x, y)
    ways, others = curve_path.ways(files)
    if not ways:
        raise ZCubeError(
            "No file of the table belongs to a ZCube. OPTIMIZE it by columns first; Delta's own "
            "ZORDER BY leaves no order in the log."
        )
    placed = [box for way in ways for box in way.files] + others
    figure, (panel,) = chart.picture(1, 1, (6.6, 5.6))
    xs, x_limits = _scale(chart, panel.xaxis, axes[0], [box.ends[0] for box in placed])
    ys, y_limits = _scale(chart, panel.yaxis, axes[1], [box.ends[1] for box in placed])
    curve_path.draw(panel, ways, list(zip(xs, ys, strict=True)), x_limits, y_limits)
    panel.set_xlabel(axes[0].label)
    panel.set_ylabel(axes[1].label)
    panel.set_title(curve_path.title(ways, others, len(files) - len(placed)), fontsize=11)
    return figure  # type: ignore[no-any-return]


def depth_histogram(quality: ClusteringQuality) -> Figure:
    """Draw how many files have which depth: a panel for each column, and one for all together.

    A file's depth is the number of files that cover its deepest point, itself included; for all
    columns together, the lower corner of its box is used. 1 is best; the dashed line is the
    average.

    Args:
        quality: what ``table.quality()`` returned.

    Raises:
        ZCubeError: matplotlib is missing.
    """
    chart = matplotlib_chart()
    rows = [*quality.columns, quality.all]
    figure, panels = chart.picture(1, len(rows), (3.6, 3.4), sharey=True)
    for panel, row in zip(panels, rows, strict=True):
        _depths(chart, panel, row)
    panels[0].set_ylabel("files")
    figure.suptitle(f"Depth of {quality.all.files} files: how many files overlap", fontsize=11)
    return figure  # type: ignore[no-any-return]


def history(table: TableLog, columns: Sequence[str] | None = None, *, versions: int = 12) -> Figure:
    """Draw quality over the table's versions, from the log alone; no data is read.

    The upper panel shows how many files overlap, the lower one the share of files that a search
    skips. Dotted lines mark OPTIMIZE commits.

    Args:
        table: a Delta table whose older versions are still readable.
        columns: as ``quality`` takes them; by default the table's own.
        versions: how many to measure at most, including the oldest and the newest; each takes as
            long as one ``quality()``. Versions that are no longer readable are left out.

    Raises:
        ZCubeError: matplotlib is missing, or ``versions`` is under 2.
        AnalysisException: not even the newest version can be measured.

    Examples:
        >>> plots.history(table, ["x", "y"], versions=20)  # doctest: +SKIP
    """
    chart = matplotlib_chart()
    if isinstance(versions, bool) or not isinstance(versions, int) or versions < 2:
        raise ZCubeError(f"versions must be an int of at least 2, not {versions!r}.")
    found, optimized = measure(table, columns, versions)
    at = sorted(found)
    figure, (upper, lower) = chart.picture(2, 1, (7.2, 2.8), sharex=True)
    last = found[at[-1]]
    names = [column.column for column in last.columns if len(last.columns) > 1] + ["*"]
    for name, (colour, marker) in zip(names, chart.series(len(names)), strict=True):
        label = "all together" if name == "*" else chart.shorten(name)
        style = {"color": colour, "marker": marker, "label": label, "lw": 2.2 if name == "*" else 1}
        depth = [found[version][name].average_depth for version in at]
        skipping = [found[version][name].skipping_effectiveness for version in at]
        upper.plot(at, [_gap(value) for value in depth], **style)
        lower.plot(at, [100 * _gap(value) for value in skipping], **style)
    for panel in (upper, lower):
        for number, version in enumerate(optimized):
            label = "OPTIMIZE" if number == 0 else None
            panel.axvline(version, color=chart.GREY, ls=":", lw=1, zorder=0, label=label)
    upper.set_ylabel("average depth (files)")
    upper.set_ylim(bottom=0)
    lower.set_ylabel("skipping\neffectiveness (%)")
    lower.set_ylim(0, 103)
    lower.set_xlabel("version of the table")
    chart.whole_numbers(lower.xaxis)
    upper.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle("How well the files are clustered, version by version", fontsize=11)
    return figure  # type: ignore[no-any-return]


def matplotlib_chart() -> ModuleType:
    """Return the chart module, which needs matplotlib.

    Raises:
        ZCubeError: it isn't installed.
    """
    try:
        from zcube.plots import chart
    except ImportError as error:
        raise ZCubeError("Plots need matplotlib: pip install 'zcube[plots]'.") from error
    return chart


def _boxes_of(table: TableLog, x: str, y: str) -> tuple[list[Axis], list[FileBounds]]:
    axes, files = table._file_boxes([x, y])
    for axis in axes:
        if axis.kind == "none":
            raise ZCubeError(
                f"{axis.name} is {axis.type}; Delta keeps no minimum and maximum of it. Choose "
                "a column of numbers, dates, timestamps or strings."
            )
    return axes, files


def _boxes(
    chart: ModuleType,
    axes: Sequence[Axis],
    files: Sequence[FileBounds],
    read: Sequence[bool],
    predicate: str | None,
) -> Figure:
    from zcube.plots.rectangles import Rectangle, draw, legend

    placed = [(box.ends, r) for box, r in zip(files, read, strict=True) if all(box.ends)]
    without = len(files) - len(placed)
    step = -(-len(placed) // _MAX_BOXES) or 1
    figure, (panel,) = chart.picture(1, 1, (6.6, 5.6))
    xs, x_limits = _scale(chart, panel.xaxis, axes[0], [ends[0] for ends, _ in placed[::step]])
    ys, y_limits = _scale(chart, panel.yaxis, axes[1], [ends[1] for ends, _ in placed[::step]])
    drawn: list[Rectangle] = [
        Rectangle(ends_x, ends_y, r)
        for ends_x, ends_y, (_, r) in zip(xs, ys, placed[::step], strict=True)
    ]
    draw(panel, drawn, x_limits, y_limits)
    panel.set_xlabel(axes[0].label)
    panel.set_ylabel(axes[1].label)
    lines = [f"{len(drawn)} files, each from its minimum to its maximum"]
    if predicate is not None:
        lines.append(chart.shorten(f"Blue must be read for {predicate}", 80))
        legend(panel, drawn)
    if step > 1:
        lines[0] = f"{len(drawn)} of {len(placed)} files, each from its minimum to its maximum"
    if without:
        lines.append(f"{without} files without a minimum or a maximum are not drawn")
    panel.set_title("\n".join(lines), fontsize=11)
    return figure  # type: ignore[no-any-return]


def _scale(
    chart: ModuleType, matplotlib_axis: Any, axis: Axis, ends: Sequence[Any]
) -> tuple[list[Interval], Interval]:
    """Place the ends along an axis; return the positions and the axis limits."""
    if axis.kind == "text":
        values = sorted({end for pair in ends for end in pair}, key=lambda v: v.encode("utf-8"))
        place = {value: number for number, value in enumerate(values)}
        chart.names(matplotlib_axis, values)
        return [(place[low], place[high]) for low, high in ends], (-0.5, max(1, len(values)) - 0.5)
    first, last = (_FIRST_DAY, _LAST_DAY) if axis.kind == "date" else (-math.inf, math.inf)
    finite = [
        min(max(end, first), last) for pair in ends for end in pair if math.isfinite(end)
    ] or [0.0]
    low, high = min(finite), max(finite)
    margin = 0.02 * (high - low) or 0.5
    limits = (max(low - margin, first), min(high + margin, last))
    if axis.kind == "date":
        chart.dates(matplotlib_axis)
    return [(max(a, limits[0]), min(b, limits[1])) for a, b in ends], limits


def _depths(chart: ModuleType, panel: Any, row: ColumnQuality) -> None:
    name = "all together" if row.column == "*" else chart.shorten(row.column, 24)
    without = row.files - row.files_with_stats
    panel.set_title(
        name + (f"\n{without} files without statistics" if without else ""), fontsize=10
    )
    panel.set_xlabel("depth (files)")
    deepest = max(row.depth_histogram, default=1)
    width = -(-deepest // _MAX_BARS)
    bars: dict[int, int] = {}
    for depth, count in row.depth_histogram.items():
        place = (depth - 1) // width
        bars[place] = bars.get(place, 0) + count
    # A bar spans the depths that it counts: the bar of depth 3 alone reaches from 2.5 to 3.5.
    left = [0.5 + place * width for place in bars]
    panel.bar(left, list(bars.values()), width * 0.92, align="edge", color=chart.BLUE)
    panel.set_xlim(0.5 - 0.3 * width, max(deepest, 2) + 0.5 + 0.3 * width)
    chart.whole_numbers(panel.xaxis)
    chart.whole_numbers(panel.yaxis)
    if row.average_depth is not None:
        label = f"average {row.average_depth:.1f}"
        panel.axvline(row.average_depth, color=chart.VERMILION, ls="--", lw=1.6, label=label)
        panel.legend(frameon=False, fontsize=9)


def _gap(value: float | None) -> float:
    """Return NaN, which leaves a gap in the line, if there is no figure."""
    return math.nan if value is None else value
