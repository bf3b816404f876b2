"""OPTIMIZE … ZORDER BY end to end: ZCube against Delta, alternating, in one warm session.

TPC-H lineitem, scale factor 2, about 24 files, target 16 MiB; ZORDER BY 2 and 4 columns. Each run
starts from a fresh copy of the same table. CPU seconds are the JVM's, user and system.

    python -m benchmarks.zorder [--scale 2] [--rounds 2] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from pathlib import Path

from pyspark.sql import SparkSession
from zcube.demo import data

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.machine import machine
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    bench_data,
    scratch,
)

COLUMNS = {
    2: "l_shipdate, l_partkey",
    4: "l_shipdate, l_partkey, l_suppkey, l_quantity",
}
ENGINES = ("kdtree", "zorder", "delta", "copy")
"""ZCube by two layouts, the first its default; Delta; a plain copy."""
TARGET = 16 << 20


SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "6g",
    SHUFFLE_PARTITIONS: 8,
    SNAPSHOT_PARTITIONS: 2,
    MAX_FILE_SIZE: TARGET,
}


def run(spark: SparkSession, original: Path, work: Path, engine: str, columns: int) -> dict:
    shutil.rmtree(work, ignore_errors=True)
    if engine == "copy":
        rows = spark.read.format("delta").load(str(original))
        return measured(spark, lambda: rows.write.format("delta").save(str(work)))
    shutil.copytree(original, work)
    spark.conf.set("spark.zcube.enabled", str(engine != "delta").lower())
    by = "" if engine == "delta" else f" OPTIONS ('curve' = '{engine}')"
    statement = f"OPTIMIZE delta.`{work}` ZORDER BY ({COLUMNS[columns]}){by}"
    return measured(spark, lambda: spark.sql(statement).collect())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        source = data.lineitem(bench_data(), options.scale)
        original, work = folder / "original", folder / "work"
        rows = spark.read.parquet(str(source))
        rows.repartition(24).write.format("delta").save(str(original))
        runs = []
        # Round 0 warms the JVM up and is not counted.
        for number in range(options.rounds + 1):
            for columns in COLUMNS:
                # Rotates the order of the engines in each round.
                turn = number % len(ENGINES)
                for engine in ENGINES[turn:] + ENGINES[:turn]:
                    if engine == "copy" and columns != 2:
                        continue
                    figures = run(spark, original, work, engine, columns)
                    print(number, columns, engine, figures, flush=True)
                    if number > 0:
                        runs.append({"columns": columns, "engine": engine, **figures})
    about = machine() | {"scale": f"{options.scale:g}", "rounds": str(options.rounds)}
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "zorder.json").write_text(
        json.dumps({"about": about, "runs": runs}, indent=1)
    )
    markdown.write(options.output / "zorder.md", table(about, runs))


def table(about: dict[str, str], runs: list[dict]) -> str:
    def median(columns: int, engine: str, figure: str) -> float:
        return statistics.median(
            r[figure] for r in runs if (r["columns"], r["engine"]) == (columns, engine)
        )

    copy = median(2, "copy", "cpu")
    lines = [
        "# OPTIMIZE … ZORDER BY, end to end",
        "",
        markdown.made_by("make bench", about),
        "ZCube sorts inside files, by its default, a k-d tree, and by Z-order; Delta runs with its defaults.",
        "Medians, in turns in one warm JVM.",
        "",
        "| columns | layout | ZCube CPU s | Delta CPU s | CPU ratio | to a copy | ZCube wall s "
        "| Delta wall s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for columns in COLUMNS:
        delta, delta_wall = median(columns, "delta", "cpu"), median(columns, "delta", "wall")
        for engine, layout in (("kdtree", "kdtree, the default"), ("zorder", "zorder")):
            cpu, wall = median(columns, engine, "cpu"), median(columns, engine, "wall")
            lines.append(
                f"| {columns} | {layout} | {cpu:.1f} | {delta:.1f} | {cpu / delta:.2f} "
                f"| {cpu / copy:.2f} | {wall:.1f} | {delta_wall:.1f} |"
            )
    lines += ["", f"A plain copy of the table: {copy:.1f} CPU s.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
