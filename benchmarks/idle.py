"""An OPTIMIZE with nothing to do, on a clustered table of 1,000 files: its time, jobs and commits.

    python -m benchmarks.idle [--files 1000] [--output benchmarks/results]

The first idle run comes right after Delta's caches are cleared, as in a new session on a warm machine;
the others find the snapshot in the cache. The data files are moved away first, so a job that read
data would fail.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import zcube

from benchmarks import markdown
from benchmarks.machine import machine
from benchmarks.session import SHUFFLE_PARTITIONS, SNAPSHOT_PARTITIONS, session
from tests.support.job_counter import JobCounter
from tests.support.log_replay import last_version, live_files

SETTINGS_OF_SPARK = {
    SHUFFLE_PARTITIONS: 4,
    SNAPSHOT_PARTITIONS: 2,
}
RUNS = 5


def measure(folder: Path, files: int) -> dict:
    """Make the table, optimize it, and time the runs that find nothing to do."""
    spark = session(folder, SETTINGS_OF_SPARK)
    path = str(folder / "table")
    try:
        rows = spark.range(0, files * 1000, 1, 4).selectExpr("hash(id) x", "hash(id, 1) y", "id")
        rows.write.format("delta").clusterBy("x", "y").save(path)
        table = zcube.ClusteredTable.for_path(spark, path)
        size = sum(file.size for file in live_files(path)) // files
        made = table.optimize(max_file_size=size)
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size))
        version = last_version(path)
        for file in Path(path).glob("*.parquet"):
            file.rename(folder / file.name)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        seconds, results = [], []
        with JobCounter(spark)() as jobs:
            for _ in range(1 + RUNS):
                started = time.monotonic()
                results.append(table.optimize())
                seconds.append(time.monotonic() - started)
        return {
            "files": made.files_added,
            "first_seconds": round(seconds[0], 2),
            "median_seconds": round(statistics.median(seconds[1:]), 2),
            "jobs_over_the_log_each": len(jobs) / (1 + RUNS),
            "jobs_over_data": 0,
            "commits": last_version(path) - version,
            "files_rewritten": sum(r.files_removed for r in results),
        }
    finally:
        spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="zcube-idle-"))
    try:
        found = measure(folder, options.files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    about = machine()
    print(found)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "idle.json").write_text(
        json.dumps({"about": about, "idle": found}, indent=1) + "\n"
    )
    lines = ["# OPTIMIZE with nothing to do", ""]
    lines += [markdown.made_by("python -m benchmarks.idle", about)]
    lines += ["", "| | |", "|---|---|", *(f"| {k} | {v} |" for k, v in found.items())]
    markdown.write(options.output / "idle.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
