"""Ratios of files read, as geometric means."""

from __future__ import annotations

import json
from collections.abc import Callable
from statistics import geometric_mean
from typing import Any

from benchmarks import markdown
from benchmarks.quality.queries import EACH, KINDS

Run = dict[str, Any]

COMPARISONS = (
    ("zorder", "delta zorder", 0.95),
    ("hilbert", "delta cluster by", 0.92),
    ("kdtree", "delta zorder", 0.55),
    ("kdtree", "delta cluster by", 0.65),
)
"""ZCube's layout, Delta's, and the ratio that is aimed at."""


def ratio(
    runs: list[Run], ours: str, theirs: str, keep: Callable[[Run, str], bool] = lambda *_: True
) -> float:
    """Geometric mean of the ratios of the shares of files read.

    Shares, so that writing a few more or fewer files neither helps nor hurts.
    """
    by_key = {(r["data"], r["columns"], r["files"], r["layout"]): r for r in runs}
    ratios = []
    for (data, columns, files, layout), run in by_key.items():
        other = by_key.get((data, columns, files, theirs))
        if layout == ours and other is not None:
            ratios += [
                run["read"][kind] / run["written"] / (other["read"][kind] / other["written"])
                for kind in KINDS
                if keep(run, kind)
            ]
    return geometric_mean(ratios) if ratios else float("nan")


def as_json(about: dict[str, str], runs: list[Run]) -> str:
    """Everything, one run per line."""
    lines = ",\n".join(json.dumps(run) for run in runs)
    return f'{{"about": {json.dumps(about)},\n"runs": [\n{lines}\n]}}\n'


def as_markdown(about: dict[str, str], runs: list[Run]) -> str:
    """The tables."""
    lines = [
        "# Files that queries must read",
        "",
        markdown.made_by("python -m benchmarks.quality", about),
        f"{4 * EACH} queries for each table, a quarter of each kind, compared with the statistics in "
        "the log. Ratios of the share of files read, ZCube's layout to Delta's; geometric means.",
        "",
    ]
    groups: list[tuple[str, list[tuple[str, Callable[[Run, str], bool]]]]] = [
        ("data set", [(d, where("data", d)) for d in values(runs, "data")]),
        ("columns", [(str(c), where("columns", c)) for c in sorted(values(runs, "columns"))]),
        ("files", [(str(f), where("files", f)) for f in sorted(values(runs, "files"))]),
        ("queries", [(k, lambda _, kind, k=k: kind == k) for k in KINDS]),
    ]
    head = " | ".join(f"{ours} / {theirs}" for ours, theirs, _ in COMPARISONS)
    for title, rows in groups:
        lines += [f"| {title} | {head} |", "|---" * (len(COMPARISONS) + 1) + "|"]
        lines += [_row(name, runs, keep) for name, keep in rows]
        if title == "data set":
            lines.append(_row("**all**", runs, lambda *_: True))
            goals = " | ".join(f"≤ {goal}" for *_, goal in COMPARISONS)
            lines.append(f"| aim | {goals} |")
        lines.append("")
    return "\n".join(lines)


def _row(name: str, runs: list[Run], keep: Callable[[Run, str], bool]) -> str:
    cells = (f"{ratio(runs, ours, theirs, keep):.3f}" for ours, theirs, _ in COMPARISONS)
    return f"| {name} | " + " | ".join(cells) + " |"


def where(key: str, value: Any) -> Callable[[Run, str], bool]:
    """A filter for ``ratio``: runs of a data set, a number of columns or of files."""
    return lambda run, _: bool(run[key] == value)


def values(runs: list[Run], key: str) -> list[Any]:
    """The different ones, in the order of the runs."""
    return list(dict.fromkeys(run[key] for run in runs))
