"""MERGE into TPC-H's lineitem, laid out by (l_orderkey, l_shipdate): with ZCube's pruning and with Delta, in turns.

An upsert of one day's orders, and TPC-H's refresh functions as MERGE: RF1 inserts new orders, RF2 deletes old ones, both
0.1 % of all orders, with keys side by side as TPC-H makes them. Each run starts from the same table: a copy that links
its files. CPU seconds are the JVM's, user and system.

    python -m benchmarks.merge_tpch [--scale 1] [--rounds 3] [--warm 2] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
from pathlib import Path

from pyspark.sql import SparkSession
from zcube.demo import data

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.machine import machine
from benchmarks.merge import CODE_CACHE, ENGINES, MIN_TABLE_BYTES, VECTORS
from benchmarks.queries.tables import generated
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    bench_data,
    scratch,
)

FILES = 200

SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 4,
    SNAPSHOT_PARTITIONS: 2,
    MIN_TABLE_BYTES: 0,
    # As in benchmarks.merge: of statements in turns, Spark would compile most again.
    CODE_CACHE: 2000,
}

ROW = "t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber"
UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"

# What is merged: rows of lineitem, changed; the condition; the clauses.
MERGES = {
    "upsert of a day's orders": (
        "SELECT l.* EXCEPT (l_comment), 'new' AS l_comment FROM lineitem l JOIN orders "
        "ON l_orderkey = o_orderkey WHERE o_orderdate = DATE'1995-03-15'",
        f"{ROW} AND t.l_shipdate = s.l_shipdate",
        UPSERT,
    ),
    # Of 32 keys, only the first 8 are in use.
    "RF1: insert orders": (
        "SELECT l_orderkey + 8 AS l_orderkey, * EXCEPT (l_orderkey) FROM lineitem "
        "WHERE l_orderkey BETWEEN {keys} * 0.4 AND {keys} * 0.401",
        ROW,
        "WHEN NOT MATCHED THEN INSERT *",
    ),
    "RF2: delete orders": (
        "SELECT DISTINCT l_orderkey FROM lineitem WHERE l_orderkey BETWEEN {keys} * 0.7 AND {keys} * 0.701",
        "t.l_orderkey = s.l_orderkey",
        "WHEN MATCHED THEN DELETE",
    ),
}


def orders(scale: float) -> Path:
    """The table of orders as Parquet, generated once, as for the leaderboard."""
    return generated(bench_data(), scale, ("orders",), parts=64) / "orders"


def make_table(spark: SparkSession, path: Path, scale: float, vectors: bool) -> None:
    source = data.lineitem(bench_data(), scale)
    df = spark.read.parquet(str(source)).repartition(8)
    shutil.rmtree(path, ignore_errors=True)
    df.write.format("delta").option(VECTORS, vectors).save(str(path))
    size = sum(f.stat().st_size for f in path.glob("*.parquet"))
    spark.conf.set(MAX_FILE_SIZE, str(size // FILES))
    spark.sql(
        f"OPTIMIZE delta.`{path}` ZORDER BY (l_orderkey, l_shipdate) OPTIONS ('curve' = 'kdtree')"
    )
    spark.read.format("delta").load(str(path)).createOrReplaceTempView("lineitem")
    spark.read.parquet(str(orders(scale))).createOrReplaceTempView("orders")


def run(spark: SparkSession, statement: str) -> dict:
    """The files that the MERGE read after skipping, as Delta reports them, and its time."""
    logger = spark._jvm.com.databricks.spark.util.Log4jUsageLogger
    records = spark._jvm.scala.collection.mutable.ArrayBuffer()
    set_tracker = getattr(logger, "usageTracker_$eq")
    set_tracker(records)
    try:
        figures = measured(spark, lambda: spark.sql(statement).collect())
    finally:
        set_tracker(None)
    found = re.search(r'"targetAfterSkipping":\{[^}]*"files":(\d+)', records.toString())
    assert found is not None
    return {"files": int(found[1]), **figures}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=2, help="rounds before, not counted")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        about = machine()
        about |= {
            "scale": f"{options.scale:g}",
            "rounds": f"{options.rounds} after {options.warm}",
            "generated classes kept": f"up to {SETTINGS_OF_SPARK[CODE_CACHE]}",
        }
        runs: list[dict] = []
        for vectors in (True, False):
            original, work = folder / "original", folder / "work"
            make_table(spark, original, options.scale, vectors)
            keys = spark.sql("SELECT max(l_orderkey) FROM lineitem").first()[0]
            for name, (query, _, _) in MERGES.items():
                of = folder / name.split()[0]
                shutil.rmtree(of, ignore_errors=True)
                spark.sql(query.format(keys=keys)).write.format("delta").save(str(of))
            for number in range(options.warm + options.rounds):
                for name, (_, on, clauses) in MERGES.items():
                    for engine in ENGINES if number % 2 else ENGINES[::-1]:
                        shutil.rmtree(work, ignore_errors=True)
                        shutil.copytree(original, work, copy_function=os.link)
                        spark.conf.set(
                            "spark.zcube.mergeInto.pruning", str(engine == "zcube").lower()
                        )
                        figures = run(
                            spark,
                            f"MERGE INTO delta.`{work}` t USING delta.`{folder / name.split()[0]}` s "
                            f"ON {on} {clauses}",
                        )
                        print(vectors, number, name, engine, figures, flush=True)
                        if number >= options.warm:
                            case = {"vectors": vectors, "merge": name, "engine": engine}
                            runs.append(case | figures)
                if number >= options.warm:
                    text = json.dumps({"about": about, "runs": runs}, indent=1)
                    (options.output / "merge_tpch.json").write_text(text + "\n")
                    markdown.write(options.output / "merge_tpch.md", report(about, runs))


def report(about: dict[str, str], runs: list[dict]) -> str:
    lines = [
        "# MERGE into TPC-H's lineitem",
        "",
        markdown.made_by("python -m benchmarks.merge_tpch", about),
        f"lineitem in about {FILES} files by (l_orderkey, l_shipdate). Medians, in turns in one warm JVM.",
        "",
        "| MERGE | deletion vectors | files read, ZCube | files read, Delta | ZCube CPU s | Delta CPU s "
        "| CPU ratio | ZCube wall s | Delta wall s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for vectors in (True, False):
        for name in MERGES:
            median = {
                (engine, figure): statistics.median(
                    run[figure]
                    for run in runs
                    if (run["vectors"], run["merge"], run["engine"]) == (vectors, name, engine)
                )
                for engine in ENGINES
                for figure in ("files", "cpu", "wall")
                if any(run["vectors"] == vectors for run in runs)
            }
            if median:
                ratio = median["zcube", "cpu"] / median["delta", "cpu"]
                lines.append(
                    f"| {name} | {'yes' if vectors else 'no'} | {median['zcube', 'files']:.0f} "
                    f"| {median['delta', 'files']:.0f} | {median['zcube', 'cpu']:.1f} "
                    f"| {median['delta', 'cpu']:.1f} | {ratio:.2f} | {median['zcube', 'wall']:.1f} "
                    f"| {median['delta', 'wall']:.1f} |"
                )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
