"""MERGE into a table that is laid out by its keys: with ZCube's pruning and with Delta, alternating.

A table of about 200 files, laid out by (tenant, ts); sources of 0.1 % of the rows. Each run starts from
a fresh copy of the same table. CPU seconds are the JVM's, user and system.

    python -m benchmarks.merge [--rows 1000000] [--rounds 2] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.cpu import measured
from benchmarks.machine import machine
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    scratch,
)

ENGINES = ("zcube", "delta")
FILES = 200
TENANTS = 1000
DAYS = 100

# Conditions on the rows that a source updates; it takes the desired number of them.
SOURCES = {
    "hot tenth": f"tenant < {TENANTS // 10}",
    "newest hour": f"ts >= {DAYS * 24 - 24}",
    "one tenant": "tenant = 417",
    "scattered": "true",
}

SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 4,
    SNAPSHOT_PARTITIONS: 2,
}


def make_table(spark: SparkSession, path: Path, rows: int) -> None:
    """Write the table, then lay it out in about the desired number of files."""
    df = spark.range(0, rows, 1, 4).selectExpr(
        "id",
        f"pmod(hash(id), {TENANTS}) AS tenant",
        f"pmod(hash(id, 1), {DAYS * 24}) AS ts",
        "md5(CAST(id AS STRING)) AS v",
    )
    df.write.format("delta").save(str(path))
    size = sum(f.stat().st_size for f in path.glob("*.parquet"))
    spark.conf.set(MAX_FILE_SIZE, str(size // FILES))
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (tenant, ts) OPTIONS ('curve' = 'kdtree')")


def boxes(path: Path) -> list[tuple[int, int, int, int]]:
    """The ranges of tenant and ts of each live file, from the log."""
    live: dict[str, tuple[int, int, int, int]] = {}
    for commit in sorted((path / "_delta_log").glob("*.json")):
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                stats = json.loads(action["add"]["stats"])
                low, high = stats["minValues"], stats["maxValues"]
                live[action["add"]["path"]] = (
                    low["tenant"],
                    high["tenant"],
                    low["ts"],
                    high["ts"],
                )
    return list(live.values())


def files_with_a_key(table: list[tuple[int, int, int, int]], source: DataFrame) -> int:
    """Files whose box holds a key: fewer can't be read."""
    keys = [(row.tenant, row.ts) for row in source.select("tenant", "ts").distinct().collect()]
    return sum(
        any(t0 <= tenant <= t1 and s0 <= ts <= s1 for tenant, ts in keys)
        for t0, t1, s0, s1 in table
    )


def merge(spark: SparkSession, target: Path, source: Path) -> int:
    """Run it; return the files of the target that were read after skipping, as Delta reports them."""
    logger = spark._jvm.com.databricks.spark.util.Log4jUsageLogger
    records = spark._jvm.scala.collection.mutable.ArrayBuffer()
    set_tracker = getattr(logger, "usageTracker_$eq")
    set_tracker(records)
    try:
        spark.sql(
            f"MERGE INTO delta.`{target}` t USING (SELECT * FROM delta.`{source}`) s "
            "ON t.tenant = s.tenant AND t.ts = s.ts AND t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *"
        ).collect()
    finally:
        set_tracker(None)
    found = re.search(r'"targetAfterSkipping":\{[^}]*"files":(\d+)', records.toString())
    assert found is not None
    return int(found[1])


def run(spark: SparkSession, target: Path, source: Path) -> tuple[int, dict[str, float]]:
    """The files that a MERGE read, and the time that it took."""
    read: list[int] = []
    figures = measured(spark, lambda: read.append(merge(spark, target, source)))
    return read[0], figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        original, work = folder / "original", folder / "work"
        make_table(spark, original, options.rows)
        live = boxes(original)
        table = spark.read.format("delta").load(str(original))
        needed = {}
        for name, condition in SOURCES.items():
            of = folder / name.replace(" ", "-")
            rows = table.where(condition).orderBy("v").limit(options.rows // 1000)
            rows.selectExpr("id", "tenant", "ts", "'new' AS v").write.format("delta").save(str(of))
            needed[name] = files_with_a_key(live, spark.read.format("delta").load(str(of)))
        runs = []
        # Round 0 warms the JVM up and is not counted.
        for number in range(options.rounds + 1):
            for name in SOURCES:
                for engine in ENGINES if number % 2 else ENGINES[::-1]:
                    shutil.rmtree(work, ignore_errors=True)
                    shutil.copytree(original, work)
                    pruning = str(engine == "zcube").lower()
                    spark.conf.set("spark.zcube.mergeInto.pruning", pruning)
                    files, figures = run(spark, work, folder / name.replace(" ", "-"))
                    print(number, name, engine, files, figures, flush=True)
                    if number > 0:
                        runs.append({"source": name, "engine": engine, "files": files, **figures})
        java = spark._jvm.java.lang.System.getProperty("java.version")
    about = machine() | {
        "java": java,
        "rows": f"{options.rows:,}",
        "files": str(len(live)),
        "rounds": str(options.rounds),
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "merge.json").write_text(
        json.dumps({"about": about, "needed": needed, "runs": runs}, indent=1)
    )
    (options.output / "merge.md").write_text(report(about, needed, runs))


def report(about: dict[str, str], needed: dict[str, int], runs: list[dict]) -> str:
    def median(name: str, engine: str, figure: str) -> float:
        return statistics.median(
            r[figure] for r in runs if (r["source"], r["engine"]) == (name, engine)
        )

    lines = [
        "# MERGE into a table laid out by its keys",
        "",
        "Made by `python -m benchmarks.merge`. "
        + ", ".join(f"{k} {v}" for k, v in about.items())
        + ".",
        "Sources of 0.1 % of the rows. Medians, in turns in one warm JVM.",
        "",
        "| source | files whose box holds a key | files read, ZCube | files read, Delta "
        "| ZCube CPU s | Delta CPU s | CPU ratio | ZCube wall s | Delta wall s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in SOURCES:
        zcube, delta = (
            {figure: median(name, engine, figure) for figure in ("files", "cpu", "wall")}
            for engine in ENGINES
        )
        lines.append(
            f"| {name} | {needed[name]} | {zcube['files']:.0f} | {delta['files']:.0f} "
            f"| {zcube['cpu']:.1f} | {delta['cpu']:.1f} | {zcube['cpu'] / delta['cpu']:.2f} "
            f"| {zcube['wall']:.1f} | {delta['wall']:.1f} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
