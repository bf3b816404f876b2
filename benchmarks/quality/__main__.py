"""Files that queries must read, by layout and data set: ZCube's layouts against Delta's.

Each data set (60,000 rows) is laid out by 2, 3 and 4 columns into 17, 64, 100 and 200 files by each
system; 400 seeded queries of four kinds are then held against the statistics in the log.

    python -m benchmarks.quality [--quick] [--data uniform,zipf] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import tempfile
import time
from pathlib import Path

import zcube
from pyspark.sql import SparkSession

from benchmarks.machine import machine
from benchmarks.quality import datasets, report
from benchmarks.quality.layouts import LAYOUTS, Layouts
from benchmarks.quality.queries import draw, files_read

COLUMNS = (2, 3, 4)
FILES = (17, 64, 100, 200)


def session(folder: Path) -> SparkSession:
    """A session with both systems."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    spark = zcube.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 columns, 17 and 100 files only")
    parser.add_argument("--data", default=",".join(datasets.NAMES), metavar="NAMES")
    parser.add_argument("--layouts", default=",".join(LAYOUTS), metavar="NAMES")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    combinations = [(3, 17), (3, 100)] if options.quick else list(itertools.product(COLUMNS, FILES))
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="zcube-quality-"))
    cache = Path(".build") / "bench-data"
    cache.mkdir(parents=True, exist_ok=True)
    spark = session(folder)
    runs = []
    try:
        for name in options.data.split(","):
            rows = datasets.table(name, cache)
            datasets.write(rows, folder / name / "source")
            layouts = Layouts(spark, folder / name)
            queries = {c: draw(rows, c, seed=c) for c in {c for c, _ in combinations}}
            for (columns, files), layout in itertools.product(
                combinations, options.layouts.split(",")
            ):
                found = layouts.write(layout, columns, files)
                run = {
                    "data": name,
                    "columns": columns,
                    "files": files,
                    "layout": layout,
                    "written": len(found),
                    "read": files_read(found, queries[columns]),
                }
                runs.append(run)
                print(f"{time.monotonic() - started:.0f} s", *run.values(), flush=True)
            shutil.rmtree(folder / name)
            # After each data set, so that a run that is broken off has something to show.
            java = spark._jvm.java.lang.System.getProperty("java.version")
            minutes = f"{(time.monotonic() - started) / 60:.0f}"
            about = machine() | {"java": java, "minutes": minutes}
            options.output.mkdir(parents=True, exist_ok=True)
            (options.output / "quality.json").write_text(report.as_json(about, runs))
            (options.output / "quality.md").write_text(report.as_markdown(about, runs))
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(report.as_markdown(about, runs))


if __name__ == "__main__":
    main()
