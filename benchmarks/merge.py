"""MERGE into a table that is laid out by its keys: with ZCube's pruning and with Delta, in turns.

Tables of about 200 files by (tenant, ts), with and without deletion vectors, and sources of 0.1 % of the
rows. `small`: 4 columns, laid out by OPTIMIZE; a MERGE's fixed cost is most of its time. `large`, `larger` and
`largest` (only if it is named: it has 11 GB): 15 columns, files of about 5, 19 and 57 MB, written in cells of
(tenant, ts). Each run starts from the same table: a copy that links its files. CPU seconds are the JVM's, user
and system.

    python -m benchmarks.merge [--tables small large larger] [--vectors with without] [--rounds 3] [--warm 3]
        [--sources "hot tenth" "newest hour" "one tenant" scattered] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks import markdown
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

# Conditions on the rows that a source updates: about 0.1 % of all.
SOURCES = {
    "hot tenth": f"tenant < {TENANTS // 10} AND id % 100 = 0",
    "newest hour": f"ts >= {DAYS * 24 - 24} AND id % 10 = 0",
    "one tenant": "tenant = 417",
    "scattered": "id % 1000 = 0",
}

MIN_TABLE_BYTES = "spark.zcube.mergeInto.minTableBytes"
CODE_CACHE = "spark.sql.codegen.cache.maxEntries"
VECTORS = "delta.enableDeletionVectors"
VECTORS_OR_NOT = ("with", "without")

SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 4,
    SNAPSHOT_PARTITIONS: 2,
    # Room for the code of both engines and all sources. With 100 entries, each MERGE would be compiled anew
    # because of those in between, which sessions with one engine don't have.
    CODE_CACHE: 2000,
    # By default, the small table would be left to Delta.
    MIN_TABLE_BYTES: 0,
}


SMALL_ROWS = 300_000

# The large tables are grids of cells, one file each.
SIDE = 14
CELL_TENANTS = 72
CELL_HOURS = 172


def make_small(spark: SparkSession, path: Path, vectors: bool) -> int:
    """Write the table, then lay it out in about the desired number of files; return its rows."""
    df = spark.range(0, SMALL_ROWS, 1, 4).selectExpr(
        "id",
        f"pmod(hash(id), {TENANTS}) AS tenant",
        f"pmod(hash(id, 1), {DAYS * 24}) AS ts",
        "md5(CAST(id AS STRING)) AS v",
    )
    df.write.format("delta").option(VECTORS, vectors).save(str(path))
    size = sum(f.stat().st_size for f in path.glob("*.parquet"))
    spark.conf.set(MAX_FILE_SIZE, str(size // FILES))
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (tenant, ts) OPTIONS ('curve' = 'kdtree')")
    return SMALL_ROWS


def make_large(spark: SparkSession, path: Path, vectors: bool) -> int:
    return make_grid(spark, path, vectors, 40_000)


def make_larger(spark: SparkSession, path: Path, vectors: bool) -> int:
    return make_grid(spark, path, vectors, 160_000)


def make_largest(spark: SparkSession, path: Path, vectors: bool) -> int:
    return make_grid(spark, path, vectors, 480_000)


def make_grid(spark: SparkSession, path: Path, vectors: bool, cell_rows: int) -> int:
    """Write a file for each cell of the grid; return the number of rows."""
    rows = SIDE * SIDE * cell_rows
    cell = f"(n DIV {cell_rows})"
    numbers = [f"hash(n, {i}) AS i{i}" for i in range(4)]
    numbers += [f"hash(n, {i}) / 1000 AS d{i}" for i in range(4)]
    df = spark.range(0, rows, 1, SIDE * SIDE).withColumnRenamed("id", "n")
    df = df.selectExpr(
        # Not in the order of the files.
        f"n * 1000003 % {rows} AS id",
        f"{cell} DIV {SIDE} * {CELL_TENANTS} + pmod(hash(n), {CELL_TENANTS}) AS tenant",
        f"{cell} % {SIDE} * {CELL_HOURS} + pmod(hash(n, 1), {CELL_HOURS}) AS ts",
        "md5(CAST(n AS STRING)) AS v",
        "md5(CAST(-n AS STRING)) AS w",
        "concat('kind ', n % 37) AS kind",
        "date_add(DATE'2024-01-01', CAST(n % 900 AS INT)) AS day",
        *numbers,
    )
    df.write.format("delta").option(VECTORS, vectors).save(str(path))
    return rows


TABLES = {
    "small": make_small,
    "large": make_large,
    "larger": make_larger,
    "largest": make_largest,
}


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


def measure(
    spark: SparkSession,
    folder: Path,
    table: str,
    vectors: bool,
    sources: list[str],
    rounds: int,
    warm: int,
) -> dict:
    """All runs on one table; `warm` rounds before those that count."""
    original, work = folder / "original", folder / "work"
    shutil.rmtree(original, ignore_errors=True)
    rows = TABLES[table](spark, original, vectors)
    live = boxes(original)
    size = sum(f.stat().st_size for f in original.glob("*.parquet")) / len(live)
    target = spark.read.format("delta").load(str(original))
    needed = {}
    for name in sources:
        of = folder / name.replace(" ", "-")
        shutil.rmtree(of, ignore_errors=True)
        chosen = target.where(SOURCES[name]).coalesce(1)
        chosen.drop("v").selectExpr("*", "'new' AS v").write.format("delta").save(str(of))
        needed[name] = files_with_a_key(live, spark.read.format("delta").load(str(of)))
    found = {
        "table": table,
        "vectors": vectors,
        "rows": rows,
        "files": len(live),
        "megabytes": round(size / 1e6, 2),
        "needed": needed,
    }
    runs: list[dict] = []
    for number in range(-warm, rounds):
        for name in sources:
            for engine in ENGINES if number % 2 else ENGINES[::-1]:
                shutil.rmtree(work, ignore_errors=True)
                shutil.copytree(original, work, copy_function=os.link)
                spark.conf.set("spark.zcube.mergeInto.pruning", str(engine == "zcube").lower())
                files, figures = run(spark, work, folder / name.replace(" ", "-"))
                print(table, vectors, number, name, engine, files, figures, flush=True)
                if number >= 0:
                    runs.append({"source": name, "engine": engine, "files": files, **figures})
    return found | {
        "rounds": rounds,
        "warm": warm,
        "code_cache": SETTINGS_OF_SPARK[CODE_CACHE],
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES)[:3])
    parser.add_argument("--vectors", nargs="+", choices=VECTORS_OR_NOT, default=VECTORS_OR_NOT)
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=3, help="rounds that aren't counted")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        about = machine()
        for table in options.tables:
            for vectors in [v == "with" for v in options.vectors]:
                figures = measure(
                    spark, folder, table, vectors, options.sources, options.rounds, options.warm
                )
                found = {"about": about} | figures
                keep(options.output / "merge.json", found)
                tables = json.loads((options.output / "merge.json").read_text())
                markdown.write(options.output / "merge.md", report(tables))


def keep(file: Path, found: dict) -> None:
    """Replace the results of the same table, and keep those of others."""
    known = json.loads(file.read_text()) if file.exists() else []
    # Results of before there were several tables.
    known = known if isinstance(known, list) else []
    others = [t for t in known if (t["table"], t["vectors"]) != (found["table"], found["vectors"])]
    tables = sorted([*others, found], key=lambda t: (t["table"], not t["vectors"]))
    file.write_text(json.dumps(tables, indent=1) + "\n")


def report(tables: list[dict]) -> str:
    lines = [
        "# MERGE into a table laid out by its keys",
        "",
        "Made by `python -m benchmarks.merge`. Sources of 0.1 % of the rows. Medians, in turns in one warm JVM.",
    ]
    for table in tables:
        lines += ["", *section(table)]
    return "\n".join([*lines, ""])


def section(table: dict) -> list[str]:
    def median(name: str, engine: str, figure: str) -> float:
        runs = table["runs"]
        return statistics.median(
            r[figure] for r in runs if (r["source"], r["engine"]) == (name, engine)
        )

    lines = [
        f"## {table['table'].capitalize()} table, {'with' if table['vectors'] else 'without'} deletion vectors",
        "",
        f"{table['rows']:,} rows, {table['files']} files of {table['megabytes']} MB, rounds {table['rounds']} "
        f"after {table.get('warm', 1)}, up to {table.get('code_cache', 100)} generated classes kept. "
        f"{markdown.described(table['about'])}.",
        "",
        "| source | files whose box holds a key | files read, ZCube | files read, Delta "
        "| ZCube CPU s | Delta CPU s | CPU ratio | ZCube wall s | Delta wall s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in table["needed"]:
        zcube, delta = (
            {figure: median(name, engine, figure) for figure in ("files", "cpu", "wall")}
            for engine in ENGINES
        )
        lines.append(
            f"| {name} | {table['needed'][name]} | {zcube['files']:.0f} | {delta['files']:.0f} "
            f"| {zcube['cpu']:.1f} | {delta['cpu']:.1f} | {zcube['cpu'] / delta['cpu']:.2f} "
            f"| {zcube['wall']:.1f} | {delta['wall']:.1f} |"
        )
    return lines


if __name__ == "__main__":
    main()
