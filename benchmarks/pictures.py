"""Draws the committed results: docs/pictures/benchmarks-*.png.

Work against Delta, files that queries read, and reading against rewriting, from the JSON files there.

    python -m benchmarks.pictures [--results benchmarks/results] [--output docs/pictures]
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from zcube.plots.chart import BLUE, GREEN, ORANGE

from benchmarks.quality.report import COMPARISONS, ratio, values, where

GREY = "#999999"
ENGINES = {
    "kdtree": ("ZCube, kdtree", GREEN),
    "zorder": ("ZCube, zorder", BLUE),
    "delta": ("Delta", ORANGE),
    "copy": ("plain copy", GREY),
}
MARKERS = {
    "zorder": ("o", BLUE),
    "hilbert": ("s", ORANGE),
    "kdtree": ("D", GREEN),
}
STREAMS = {"uniform": ("o", BLUE), "hot": ("s", ORANGE), "time": ("D", GREEN)}


def figure(title: str, height: float) -> tuple[plt.Figure, Axes]:
    """A chart as wide as a page."""
    drawn, axes = plt.subplots(figsize=(8.4, height))
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    return drawn, axes


def work(results: dict) -> plt.Figure:
    """CPU seconds of OPTIMIZE … ZORDER BY: a bar for the median, a dot for each run."""
    drawn, axes = figure(
        f"OPTIMIZE … ZORDER BY, lineitem SF {results['about']['scale']}: CPU seconds", 3.0
    )
    bars = [
        (columns, engine)
        for columns in (4, 2)
        for engine in reversed(ENGINES)
        if engine != "copy" or columns == 2
    ]
    for place, (columns, engine) in enumerate(bars):
        runs = [
            r["cpu"] for r in results["runs"] if (r["columns"], r["engine"]) == (columns, engine)
        ]
        colour = ENGINES[engine][1]
        median = statistics.median(runs)
        axes.barh(place, median, color=colour, height=0.7)
        axes.plot(runs, [place] * len(runs), "o", color="black", markersize=3)
        axes.text(max(runs) + 1, place, f"{median:.0f}", va="center", fontsize=9)
    labels = [
        ENGINES[engine][0] + ("" if engine == "copy" else f", {columns} columns")
        for columns, engine in bars
    ]
    axes.set_yticks(range(len(bars)), labels, fontsize=9)
    axes.set_xlabel("CPU seconds of the whole JVM; dots are single runs")
    return drawn


def quality(results: dict) -> plt.Figure:
    """Share of files read, ZCube's to Delta's, by data set."""
    runs = results["runs"]
    names = values(runs, "data")
    drawn, axes = figure("Files that queries must read, as a ratio to Delta's layout", 3.6)
    for ours, theirs, _ in COMPARISONS:
        marker, colour = MARKERS[ours]
        ratios = [ratio(runs, ours, theirs, where("data", name)) for name in names]
        to_curve = theirs == "delta zorder"
        axes.plot(
            range(len(names)),
            ratios,
            marker,
            color=colour,
            markerfacecolor=colour if to_curve else "white",
            label=f"{ours}, to Delta's {'ZORDER BY' if to_curve else 'CLUSTER BY'}",
        )
    axes.axhline(1, color=GREY, linewidth=1)
    axes.text(len(names) - 0.5, 1.01, "as Delta", ha="right", va="bottom", color="#555555")
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, 1.12)
    axes.set_ylabel("ratio, less is better")
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.12), ncols=2, frameon=False, fontsize=9)
    return drawn


def streams(results: dict) -> plt.Figure:
    """Reading against rewriting over streams of appends."""
    drawn, axes = figure("200 appends, OPTIMIZE after each: reading against rewriting", 3.8)
    for stream, (marker, colour) in STREAMS.items():
        runs = sorted(
            (r for r in results["runs"] if r["stream"] == stream), key=lambda r: r["rewritten"]
        )
        ours = [r for r in runs if r["setting"] != "delta"]
        axes.plot(
            [r["rewritten"] for r in ours],
            [r["read"] for r in ours],
            marker + "-",
            color=colour,
            linewidth=1,
            label=stream,
        )
        for run in runs:
            if run["setting"] == "delta":
                axes.plot(
                    run["rewritten"], run["read"], marker, color=colour, markerfacecolor="white"
                )
        # One stream says which setting is which for all.
        if stream == "uniform":
            for run in runs:
                axes.annotate(
                    "Delta" if run["setting"] == "delta" else run["setting"],
                    (run["rewritten"], run["read"]),
                    textcoords="offset points",
                    xytext=(6, 7),
                    fontsize=9,
                )
    axes.set_xscale("log")
    shown = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    axes.set_xticks(shown, [str(x) for x in shown])
    axes.minorticks_off()
    most = max(r["rewritten"] for r in results["runs"])
    axes.set_xlim(0.8, 2 * most)
    axes.set_xlabel("bytes rewritten for each byte appended (log)")
    axes.set_ylim(0.95, 1.05 * max(r["read"] for r in results["runs"]))
    axes.set_ylabel("files read, 1 = fully clustered")
    axes.legend(frameon=False, title="stream")
    return drawn


def main() -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--output", type=Path, default=Path("docs/pictures"))
    options = parser.parse_args()
    for name, draw in (("zorder", work), ("quality", quality), ("streams", streams)):
        drawn = draw(json.loads((options.results / f"{name}.json").read_text()))
        drawn.savefig(options.output / f"benchmarks-{name}.png", dpi=110, bbox_inches="tight")
        plt.close(drawn)


if __name__ == "__main__":
    main()
