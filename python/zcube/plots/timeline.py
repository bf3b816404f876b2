"""Draws quality over a table's versions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zcube.plots import chart
from zcube.results import formatting
from zcube.results.quality import ALL

if TYPE_CHECKING:
    from zcube.results.quality import ClusteringQuality


def picture(found: Mapping[int, ClusteringQuality], optimized: Sequence[int]) -> chart.Picture:
    """Draw depth above and skipping below, and dotted lines where OPTIMIZE committed.

    Args:
        found: the quality of each version.
        optimized: the versions that OPTIMIZE committed.
    """
    at = sorted(found)
    figure, (upper, lower) = chart.picture(2, 1, (7.2, 2.8), sharex=True)
    last = found[at[-1]]
    names, left_out = _lines(last)
    for name, (colour, marker) in zip(names, chart.series(len(names)), strict=True):
        label = "all together" if name == ALL else _label(name)
        width = 2.2 if name == ALL else 1
        # Not clipped, as a marker at 0 % would be a half.
        style = {
            "color": colour, "marker": marker, "label": label, "lw": width, "clip_on": False,
        }  # fmt: skip
        depth = [found[version][name].average_depth for version in at]
        skipping = [found[version][name].skipping_effectiveness for version in at]
        upper.plot(at, [_gap(value) for value in depth], **style)
        lower.plot(at, [100 * _gap(value) for value in skipping], **style)
    if optimized:
        for panel in (upper, lower):
            _dotted(panel, optimized, "OPTIMIZE")
    upper.set_ylabel("average depth (files)")
    upper.set_ylim(bottom=0)
    lower.set_ylabel("skipping\neffectiveness (%)")
    lower.set_ylim(0, 103)
    lower.set_xlabel("version of the table")
    chart.whole_numbers(lower.xaxis)
    upper.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    title = "How well the files are clustered, version by version"
    if left_out:
        title += f"\nthe columns with the greatest depth; {left_out} more aren't drawn"
    figure.suptitle(title, fontsize=11)
    return figure


def _lines(quality: ClusteringQuality) -> tuple[list[str], int]:
    """Return what to draw, as many columns as have a colour, and how many are left out."""
    if len(quality.columns) == 1:
        return [ALL], 0
    worst = sorted(quality.columns, key=lambda column: -(column.average_depth or 0))
    drawn = {column.column for column in worst[: len(chart.SERIES) - 1]}
    names = [column.column for column in quality.columns if column.column in drawn]
    return [*names, ALL], len(quality.columns) - len(names)


def _dotted(panel: Any, places: Sequence[int], label: str) -> None:
    """Draw dotted lines from the bottom of a panel to its top, all of them as one object."""
    panel.vlines(
        places,
        0,
        1,
        transform=panel.get_xaxis_transform(),
        colors=chart.GREY,
        linestyles=":",
        linewidths=1,
        zorder=0,
        label=label,
    )


def _label(name: str) -> str:
    """Return a column's name. matplotlib leaves a label out that begins with an underscore."""
    text = chart.plain(formatting.shorten(name))
    return f"`{text}`" if text.startswith("_") else text


def _gap(value: float | None) -> float:
    """Return NaN, which leaves a gap in the line, if there is no figure."""
    return math.nan if value is None else value
