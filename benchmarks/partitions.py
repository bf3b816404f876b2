"""OPTIMIZE … ZORDER BY of tables of many small partitions: ZCube against Delta, alternating.

Each partition has 50 rows in two files. Each run starts from a fresh copy of the same table. CPU
seconds are the JVM's, user and system. The first runs, on the smallest table, warm the JVM up and are
not counted.

    python -m benchmarks.partitions [--partitions 100,400,2000] [--rounds 1] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.session import DRIVER_MEMORY, SHUFFLE_PARTITIONS, scratch
from tests.support.log_replay import last_version

ROWS = 50
ENGINES = ("zcube", "delta")
WARM_UP = 20
SETTINGS_OF_SPARK = {DRIVER_MEMORY: "2g", SHUFFLE_PARTITIONS: 8}


def make(spark: SparkSession, table: Path, partitions: int) -> None:
    """Two appends to every partition."""
    for half in range(2):
        rows = spark.range(partitions * ROWS // 2).selectExpr(
            f"id % {partitions} p", f"hash(id, {half}) x", f"hash(id, {half}, 1) y", "id"
        )
        rows.repartition(2, "p").write.format("delta").partitionBy("p").mode("append").save(
            str(table)
        )


def run(spark: SparkSession, original: Path, work: Path, engine: str) -> dict:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(original, work)
    spark.conf.set("spark.zcube.enabled", str(engine == "zcube").lower())
    version = last_version(str(work))
    statement = f"OPTIMIZE delta.`{work}` ZORDER BY (x, y)"
    figures = measured(spark, lambda: spark.sql(statement).collect())
    return figures | {"commits": last_version(str(work)) - version}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", default="100,400,2000")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--delta-up-to", type=int, default=400, help="partitions")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    counts = [int(count) for count in options.partitions.split(",")]
    runs: list[dict] = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        for count in (WARM_UP, *counts):
            original, work = folder / f"original-{count}", folder / "work"
            make(spark, original, count)
            engines = ENGINES if count <= options.delta_up_to else ENGINES[:1]
            for number in range(options.rounds):
                turn = number % len(engines)
                for engine in engines[turn:] + engines[:turn]:
                    figures = run(spark, original, work, engine)
                    print(count, engine, figures, flush=True)
                    if count != WARM_UP:
                        runs.append({"partitions": count, "engine": engine, **figures})
            if count != WARM_UP:
                save(options.output, runs)


def save(output: Path, runs: list[dict]) -> None:
    about = machine()
    output.mkdir(parents=True, exist_ok=True)
    saved = output / "partitions.json"
    every = with_kept(saved, ["partitions"], runs)
    every.sort(key=lambda figures: figures["partitions"])
    saved.write_text(json.dumps({"about": about, "runs": every}, indent=1) + "\n")
    markdown.write(output / "partitions.md", report(about, every))


def report(about: dict[str, str], runs: list[dict]) -> str:
    def median(partitions: int, engine: str, figure: str) -> float | None:
        known = [r[figure] for r in runs if (r["partitions"], r["engine"]) == (partitions, engine)]
        return statistics.median(known) if known else None

    def text(value: float | None, digits: int = 1) -> str:
        return "" if value is None else f"{value:.{digits}f}"

    lines = [
        "# OPTIMIZE … ZORDER BY of small partitions",
        "",
        markdown.made_by("python -m benchmarks.partitions", about),
        f"{ROWS} rows a partition, in two files. Medians, in turns in one warm JVM.",
        "Where wall seconds are far above CPU seconds, other work had the machine's cores.",
        "",
        "| partitions | ZCube wall s | Delta wall s | wall ratio | ZCube CPU s | Delta CPU s "
        "| CPU ratio | ZCube commits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for partitions in sorted({figures["partitions"] for figures in runs}):
        cells = [str(partitions)]
        for figure in ("wall", "cpu"):
            ours, theirs = (median(partitions, engine, figure) for engine in ENGINES)
            ratio = ours / theirs if ours and theirs else None
            cells += [text(ours), text(theirs), text(ratio, 2)]
        cells.append(text(median(partitions, "zcube", "commits"), 0))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
