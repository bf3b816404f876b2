"""Draws how many files have which depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zcube.plots import chart
from zcube.results import formatting
from zcube.results.formatting import counted
from zcube.results.quality import ALL

if TYPE_CHECKING:
    from zcube.results.quality import ClusteringQuality, ColumnQuality

_MAX_BARS = 60
# More would be neither readable nor drawn soon.
_MAX_COLUMNS = 8
_MAX_ACROSS = 5


def picture(quality: ClusteringQuality) -> chart.Picture:
    """Draw a panel for each column, the deepest if there are many, and one for all together."""
    by_depth = sorted(quality.columns, key=lambda column: -(column.average_depth or 0))
    deepest = by_depth[:_MAX_COLUMNS]
    chosen = {column.column for column in deepest}
    rows = [*(column for column in quality.columns if column.column in chosen), quality.all]
    across = len(rows) if len(rows) <= _MAX_ACROSS else 3
    figure, panels = chart.picture(-(-len(rows) // across), across, (3.6, 3.4), sharey=True)
    for panel in panels[len(rows) :]:
        panel.remove()
    for panel, row in zip(panels[: len(rows)], rows, strict=True):
        _draw(panel, row)
    for panel in panels[: len(rows) : across]:
        panel.set_ylabel("files")
    title = f"Depth of {counted(quality.all.files, 'file')}: how many files overlap"
    left_out = len(quality.columns) - len(deepest)
    if left_out:
        title += f"; the {len(deepest)} deepest columns, {left_out} more aren't drawn"
    figure.suptitle(title, fontsize=11)
    return figure


def _draw(panel: Any, row: ColumnQuality) -> None:
    name = "all together" if row.column == ALL else chart.plain(formatting.shorten(row.column, 24))
    without = row.files - row.files_with_stats
    panel.set_title(
        name + (f"\n{counted(without, 'file')} without statistics" if without else ""), fontsize=10
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
