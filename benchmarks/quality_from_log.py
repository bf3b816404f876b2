"""DESCRIBE CLUSTERING of tables with very many files.

The tables are logs only: quality reads no data. ``first`` is the first statement on a table, for which
Delta builds its snapshot from the log: one commit of JSON (``from_json``), or the checkpoint that Delta
writes of it, as every table has that grew to a million files (``first``). ``again`` is the statement once
that is done.

    python -m benchmarks.quality_from_log [--files 10000 1000000] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from pathlib import Path

import zcube
from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.machine import machine
from benchmarks.session import DRIVER_MEMORY, scratch

COLUMNS = ("a", "b", "c")
SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [{"name": c, "type": "long", "nullable": True, "metadata": {}} for c in COLUMNS],
    }
)


def write_log(table: Path, files: int, layout: str) -> None:
    """A table of this many files: ``clustered``, or ``random``, where nearly all overlap."""
    rng = random.Random(20260321)
    side = round(files ** (1 / 3))
    log = table / "_delta_log"
    log.mkdir(parents=True)
    head = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {
            "metaData": {
                "id": "b6bd2a3c-0000-4000-8000-000000000001",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": SCHEMA,
                "partitionColumns": [],
                "configuration": {},
                "createdTime": 0,
            }
        },
    ]
    with (log / f"{0:020d}.json").open("w") as out:
        for action in head:
            out.write(json.dumps(action) + "\n")
        for number in range(files):
            low, high = {}, {}
            for column in COLUMNS:
                if layout == "clustered":
                    place = rng.randrange(side)
                    low[column] = int((place + 0.1 * rng.random()) * 1e6)
                    high[column] = int((place + 1 + 0.1 * rng.random()) * 1e6)
                else:
                    low[column] = int(rng.random() * 1e6)
                    high[column] = int(1e9 + rng.random() * 1e6)
            stats = {
                "numRecords": 1000,
                "minValues": low,
                "maxValues": high,
                "nullCount": dict.fromkeys(COLUMNS, 0),
            }
            add = {
                "path": f"part-{number:07d}.parquet",
                "partitionValues": {},
                "size": 1 << 20,
                "modificationTime": 0,
                "dataChange": True,
                "stats": json.dumps(stats),
            }
            out.write(json.dumps({"add": add}) + "\n")


SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "8g",
}


def timed(spark: SparkSession, path: Path) -> tuple[dict[str, float], zcube.ClusteringQuality]:
    table = zcube.ClusteredTable.for_path(spark, str(path))
    found = []
    times = measured(spark, lambda: found.append(table.quality(columns=list(COLUMNS))))
    return times, found[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    runs = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        write_log(folder / "warm", 2000, "clustered")
        logs = spark._jvm.org.apache.spark.sql.delta.DeltaLog
        # A warm session: Delta has built snapshots before, but not this table's.
        for number in range(6):
            logs.clearCache()
            timed(spark, folder / "warm")
            if number == 2:
                logs.forTable(spark._jsparkSession, str(folder / "warm")).checkpoint()
        for files in options.files:
            for layout in ("clustered", "random"):
                path = folder / f"{layout}-{files}"
                write_log(path, files, layout)
                from_json, quality = timed(spark, path)
                logs.forTable(spark._jsparkSession, str(path)).checkpoint()
                logs.clearCache()
                first, _ = timed(spark, path)
                again, _ = timed(spark, path)
                runs.append(
                    {
                        "files": files,
                        "layout": layout,
                        "from_json": from_json,
                        "first": first,
                        "again": again,
                        "average_depth": quality.all.average_depth,
                        "notes": quality.all.notes,
                    }
                )
                print(runs[-1], flush=True)
                shutil.rmtree(path)
    about = machine()
    options.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": about, "runs": runs}, indent=1)
    (options.output / "quality_from_log.json").write_text(text + "\n")
    markdown.write(options.output / "quality_from_log.md", report(about, runs))


def report(about: dict[str, str], runs: list[dict]) -> str:
    lines = [
        "# DESCRIBE CLUSTERING, from the log alone",
        "",
        markdown.made_by("python -m benchmarks.quality_from_log", about),
        "Three BIGINT columns, a session that has described a table of 2,000 files six times, half of "
        "them from its checkpoint. From JSON: Delta builds its snapshot from one commit of JSON; first: "
        "from a checkpoint, as a table of so many files has; again: the snapshot is there. Wall time on "
        "a machine that others use says little: go by CPU time, of all the JVM's threads.",
        "",
        "| files | layout | from JSON wall s | CPU s | first wall s | CPU s | again wall s | CPU s "
        "| average depth |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        times = [
            f"{run[when][figure]:.1f}"
            for when in ("from_json", "first", "again")
            for figure in ("wall", "cpu")
        ]
        lines.append(
            f"| {run['files']:,} | {run['layout']} | {' | '.join(times)} "
            f"| {run['average_depth']:.1f} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
