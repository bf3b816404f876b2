"""Files that queries must read, by layout and data set: ZCube's layouts against Delta's.

Each data set (60,000 rows) is laid out by 2, 3 and 4 columns into 17, 64, 100 and 200 files by each
system; 400 seeded queries of four kinds are then compared with the statistics in the log.

    python -m benchmarks.quality [--quick] [--data uniform,zipf] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks import markdown
from benchmarks.kept import earlier, with_kept
from benchmarks.machine import machine
from benchmarks.quality import datasets, report
from benchmarks.quality.layouts import LAYOUTS, Layouts
from benchmarks.quality.queries import draw, files_read
from benchmarks.session import (
    DRIVER_MEMORY,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    bench_data,
    scratch,
)

COLUMNS = (2, 3, 4)
FILES = (17, 64, 100, 200)

QUICK = [(3, 100), (2, 64)]
"""Numbers of columns and of files for a first look."""

# All twelve, since 3 and 4 have no common factor, in an order in which a prefix is already
# informative.
_ALL = list(zip(COLUMNS * len(FILES), FILES * len(COLUMNS), strict=True))
COMBINATIONS = QUICK + [c for c in _ALL if c not in QUICK]

WHAT = ("data", "columns", "files", "layout")
"""What a run is of; what isn't run keeps its results of an earlier time."""


SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 4,
    "spark.sql.session.timeZone": "UTC",
    SNAPSHOT_PARTITIONS: 2,
}


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two of the twelve combinations")
    parser.add_argument(
        "--more", action="store_true", help="only the combinations that no results are there of"
    )
    parser.add_argument("--data", default=",".join(datasets.NAMES), metavar="NAMES")
    parser.add_argument("--layouts", default=",".join(LAYOUTS), metavar="NAMES")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    combinations = QUICK if options.quick else COMBINATIONS
    started = time.monotonic()
    saved = options.output / "quality.json"
    done = {(run["columns"], run["files"]) for run in earlier(saved)} if options.more else ()
    runs = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        tables = {}
        for name in options.data.split(","):
            tables[name] = datasets.table(name, bench_data())
            datasets.write(tables[name], folder / name / "source")
        layouts = {name: Layouts(spark, folder / name) for name in tables}
        for columns, files in (c for c in combinations if c not in done):
            for name, rows in tables.items():
                queries = draw(rows, columns, seed=columns)
                for layout in options.layouts.split(","):
                    found = layouts[name].write(layout, columns, files)
                    run = {
                        "data": name,
                        "columns": columns,
                        "files": files,
                        "layout": layout,
                        "written": len(found),
                        "read": files_read(found, queries),
                    }
                    runs.append(run)
                    print(f"{time.monotonic() - started:.0f} s", *run.values(), flush=True)
            # After each combination, so that an interrupted run has results.
            minutes = f"{(time.monotonic() - started) / 60:.0f}"
            every = with_kept(saved, WHAT, runs)
            about = machine() | {"minutes": minutes, "tables": str(len(every))}
            options.output.mkdir(parents=True, exist_ok=True)
            saved.write_text(report.as_json(about, every))
            markdown.write(options.output / "quality.md", report.as_markdown(about, every))
    print((options.output / "quality.md").read_text())


if __name__ == "__main__":
    main()
