"""Draws the bounding boxes of a table's files over two columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

Box = tuple[Any, Any, Any, Any]

# Okabe and Ito's palette: told apart with any colour vision.
_BLUE, _ORANGE = "#0072B2", "#D55E00"


def boxes(table: Path) -> list[Box]:
    """Return (x low, x high, y low, y high) of each live file, from the log's statistics."""
    live: dict[str, Box] = {}
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                stats = json.loads(action["add"]["stats"])
                low, high = stats["minValues"], stats["maxValues"]
                live[action["add"]["path"]] = (
                    date.fromisoformat(low["l_shipdate"]),
                    date.fromisoformat(high["l_shipdate"]),
                    low["l_partkey"],
                    high["l_partkey"],
                )
    return list(live.values())


def _days(day: date) -> float:
    """Return a date as matplotlib counts: days since 1970."""
    return (day - date(1970, 1, 1)).days


def draw(panels: Mapping[str, list[Box]], target: Path) -> None:
    """Draw one panel for each set of boxes, side by side, all on the same axes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    figure, axes = plt.subplots(
        1, len(panels), figsize=(4.6 * len(panels), 4.4), sharex=True, sharey=True
    )
    for axis, (title, files) in zip(axes, panels.items(), strict=True):
        for x0, x1, y0, y1 in files:
            left, right = _days(x0), _days(x1)
            axis.add_patch(
                Rectangle(
                    (left, y0),
                    right - left,
                    y1 - y0,
                    facecolor=_BLUE,
                    alpha=0.10,
                    edgecolor="none",
                )
            )
            axis.add_patch(
                Rectangle((left, y0), right - left, y1 - y0, fill=False, edgecolor=_BLUE, lw=1.0)
            )
        axis.axvline(_days(date(1995, 3, 16)), color=_ORANGE, lw=1.2, ls="--")
        axis.axhline(77777, color=_ORANGE, lw=1.2, ls="--")
        axis.set_title(f"{title}\n{len(files)} files", fontsize=11)
        axis.set_xlabel("l_shipdate")
        axis.xaxis_date()
        axis.autoscale_view()
        axis.set_xlim(_days(date(1992, 1, 1)), _days(date(1998, 12, 31)))
        axis.tick_params(axis="x", labelrotation=45)
    axes[0].set_ylabel("l_partkey")
    axes[0].set_ylim(0, None)
    figure.suptitle(
        "Where each file's rows lie. A query reads the boxes that its line crosses.", fontsize=11
    )
    figure.tight_layout()
    figure.savefig(target, dpi=110)
    plt.close(figure)
