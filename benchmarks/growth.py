"""How OPTIMIZE grows: with rows, input files, columns of the table and clustering columns.

CPU seconds are the JVM's, user and system, for the last of several runs of the same kind; the
earlier ones are warm-up. Heap is the increase in use after a garbage collection at the end of the
run.

    python -m benchmarks.growth [--cases sf1,sf10,files,wide,eight] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from zcube.demo import data

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    bench_data,
    scratch,
)

TWO = "l_shipdate, l_partkey"
EIGHT = TWO + ", l_suppkey, l_quantity, l_orderkey, l_extendedprice, l_commitdate, l_discount"


@dataclass(frozen=True)
class Case:
    """A table and its clustering columns; the last of several runs counts."""

    table: str
    columns: str
    runs: int = 3


CASES = {
    "sf1": Case("lineitem SF 1, 24 files, 2 columns", TWO, runs=4),
    "sf10": Case("lineitem SF 10, 240 files, 2 columns", TWO, runs=2),
    "files": Case("lineitem SF 1, 10,000 files, 2 columns", TWO),
    "eight": Case("lineitem SF 1, 24 files, 8 columns", EIGHT),
    "wide": Case("100,000 rows of 1,000 BIGINT columns, 24 files, 2 columns", "c0, c1"),
}
SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "4g",
    SHUFFLE_PARTITIONS: 8,
    SNAPSHOT_PARTITIONS: 2,
    MAX_FILE_SIZE: 16 << 20,
}


def rows_of(spark: SparkSession, case: str) -> DataFrame:
    if case == "wide":
        columns = [f"xxhash64(id, {i}) AS c{i}" for i in range(1000)]
        return spark.range(100_000).selectExpr(*columns).repartition(24)
    scale, files = {"sf10": (10, 240), "files": (1, 10_000)}.get(case, (1, 24))
    return spark.read.parquet(str(data.lineitem(bench_data(), scale))).repartition(files)


def heap_mb(spark: SparkSession) -> float:
    java = spark._jvm.java
    for _ in range(3):
        java.lang.System.gc()
    return (
        java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
        / (1 << 20)
    )


def run(spark: SparkSession, folder: Path, case: str) -> dict:
    original, work = folder / "original", folder / "work"
    rows_of(spark, case).write.format("delta").save(str(original))
    count = spark.read.format("delta").load(str(original)).count()
    statement = f"OPTIMIZE delta.`{work}` ZORDER BY ({CASES[case].columns})"
    figures = []
    for _ in range(CASES[case].runs):
        shutil.copytree(original, work)
        heap = heap_mb(spark)
        times = measured(spark, lambda: spark.sql(statement).collect())
        figures.append(times | {"heap_mb": heap_mb(spark) - heap})
        shutil.rmtree(work)
    shutil.rmtree(original)
    return {"case": case, "rows": count} | figures[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    runs = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        for case in options.cases.split(","):
            runs.append(run(spark, folder, case))
            print(runs[-1], flush=True)
            save(options.output, runs)


def save(output: Path, runs: list[dict]) -> None:
    about = machine()
    output.mkdir(parents=True, exist_ok=True)
    saved = output / "growth.json"
    every = with_kept(saved, ["case"], runs)
    every.sort(key=lambda figures: list(CASES).index(figures["case"]))
    saved.write_text(json.dumps({"about": about, "runs": every}, indent=1) + "\n")
    lines = [
        "# How OPTIMIZE grows",
        "",
        markdown.made_by("python -m benchmarks.growth", about),
        "",
        "| table | CPU s | CPU s per million rows | wall s | heap kept, MB |",
        "|---|---|---|---|---|",
    ]
    for figures in every:
        per_million = figures["cpu"] / figures["rows"] * 1e6
        lines.append(
            f"| {CASES[figures['case']].table} | {figures['cpu']:.1f} | {per_million:.2f} | {figures['wall']:.1f} "
            f"| {figures['heap_mb']:.0f} |"
        )
    markdown.write(output / "growth.md", "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
