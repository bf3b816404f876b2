"""Whether ZCube's default layout is ever worse than Delta's: all kinds of columns, 1 to 8 of them.

Every data set is laid out by Delta's ZORDER BY, by Delta's CLUSTER BY where Delta accepts the
columns, and by ZCube with its default layout. Queries are as in ``benchmarks.quality``. There are
few rows, so that there is time for many cases; skipping depends on the number of files, hardly on
their size.

    python -m benchmarks.quality.never_worse [--data uniform,text] [--cases 2:100,8:64] [--layouts default]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from pyspark.errors import AnalysisException

from benchmarks import markdown
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.quality import datasets, report
from benchmarks.quality.__main__ import SETTINGS_OF_SPARK, WHAT
from benchmarks.quality.layouts import DEFAULT, Layouts
from benchmarks.quality.queries import KINDS, draw, files_read
from benchmarks.session import bench_data, scratch

ROWS = 30_000

CASES = ((2, 3), (1, 100), (4, 64), (3, 17), (2, 1000), (8, 100), (6, 17), (5, 300), (1, 3), (7, 5))
"""Numbers of columns and of files: each number of columns, and files from 3 to 1,000."""

DELTAS = ("delta zorder", "delta cluster by")

LIMIT = 1.02
"""Of the share of files that Delta's layout reads."""

Run = dict[str, Any]


def ratios(runs: list[Run]) -> list[Run]:
    """For each case and each of Delta's layouts the ratio of the shares read, of all and by kind."""
    by_key = {tuple(run[field] for field in WHAT): run for run in runs}
    found = []
    for (data, columns, files, layout), ours in by_key.items():
        if layout != DEFAULT:
            continue
        for theirs in DELTAS:
            other = by_key.get((data, columns, files, theirs))
            if other:
                # Reading no file at all counts as one, as no ratio may be 0.
                by_kind = {
                    kind: max(1, ours["read"][kind]) / ours["written"] / share
                    for kind in KINDS
                    if (share := other["read"][kind] / other["written"])
                }
                found.append(
                    {"data": data, "columns": columns, "files": files, "delta": theirs}
                    | {"ratio": geometric_mean(by_kind.values()), "kinds": by_kind}
                )
    return found


def as_markdown(about: dict[str, str], runs: list[Run]) -> str:
    """The tables: geometric means by data set, columns and files, and the worst of each."""
    found = ratios(runs)
    over = [case for case in found if case["ratio"] > LIMIT]
    lines = [
        "# Is the default ever worse than Delta's layouts?",
        "",
        markdown.made_by("python -m benchmarks.quality.never_worse", about),
        f"{ROWS} rows, 400 queries for each case, compared with the statistics in the log. Ratios of "
        "the share of files read, ZCube with nothing said to Delta: over all cases of a line the "
        "geometric mean, and the worst. A case is a data set, a number of columns and of files; its "
        "ratio is the geometric mean over the four kinds of queries. Delta takes at most four columns "
        "for CLUSTER BY, and no booleans.",
        "",
        f"**{len(over)} of {len(found)} cases over {LIMIT}.**",
        "",
    ]
    lines += [f"- {_named(case)}" for case in over]
    if over:
        lines.append("")
    for field in ("data", "columns", "files"):
        names = list(dict.fromkeys(case[field] for case in found))
        if field != "data":
            names.sort()
        lines += [f"| {field} | {' | '.join(f'{d}, mean | worst' for d in DELTAS)} |"]
        lines += ["|---" * (1 + 2 * len(DELTAS)) + "|"]
        for name in names:
            cells = []
            for theirs in DELTAS:
                of = [
                    case["ratio"]
                    for case in found
                    if case[field] == name and case["delta"] == theirs
                ]
                cells += [f"{geometric_mean(of):.3f}", f"{max(of):.3f}"] if of else ["–", "–"]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append("")
    lines += ["Single kinds of queries, the worst first:", ""]
    single = [(ratio, kind, case) for case in found for kind, ratio in case["kinds"].items()]
    single.sort(key=lambda entry: -entry[0])
    lines += [f"- {kind}, {_named(case | {'ratio': ratio})}" for ratio, kind, case in single[:10]]
    return "\n".join([*lines, ""])


def _named(case: Run) -> str:
    return (
        f"{case['data']}, {case['columns']} columns, {case['files']} files, "
        f"of {case['delta']}: {case['ratio']:.3f}"
    )


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=",".join(datasets.EVERY), metavar="NAMES")
    parser.add_argument("--cases", metavar="COLUMNS:FILES,…")
    parser.add_argument("--layouts", default=",".join([*DELTAS, DEFAULT]), metavar="NAMES")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    cases = (
        [
            tuple(int(number) for number in case.split(":"))
            for case in (options.cases or "").split(",")
        ]
        if options.cases
        else list(CASES)
    )
    saved = options.output / "never_worse.json"
    options.output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    runs: list[Run] = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        tables = {}
        for name in options.data.split(","):
            rows = datasets.wide(name, bench_data(), ROWS)
            kept, by = datasets.stored(name, rows)
            datasets.write(kept, folder / name / "source")
            first = by[1] if name == "boolean" else by[0]
            tables[name] = rows, by, Layouts(spark, folder / name, first)
        for columns, files in cases:
            for name, (rows, by, layouts) in tables.items():
                queries = draw(rows, columns, seed=columns)
                for layout in options.layouts.split(","):
                    try:
                        found = layouts.write_by(layout, by[:columns], files)
                    except AnalysisException as refused:
                        print(name, columns, layout, refused.getCondition(), flush=True)
                        continue
                    run = {
                        "data": name,
                        "columns": columns,
                        "files": files,
                        "layout": layout,
                        "written": len(found),
                        "read": files_read(found, queries, by),
                    }
                    runs.append(run)
                    print(f"{time.monotonic() - started:.0f} s", *run.values(), flush=True)
            every = with_kept(saved, WHAT, runs)
            about = machine() | {"tables": str(len(every))}
            saved.write_text(report.as_json(about, every))
            markdown.write(options.output / "never_worse.md", as_markdown(about, every))
    print((options.output / "never_worse.md").read_text())


if __name__ == "__main__":
    main()
