"""MERGE with keys all over a clustered table without deletion vectors, and the OPTIMIZE after it.

Such a MERGE has to copy every file for a row in two thousand. Tables of files of 24 MB, with partitions and without, are
laid out by ZCube. Each run starts from the same table: a copy that links its files. ZCube's MERGE and OPTIMIZE in turns
with Delta's: one that updates and inserts, and one that only updates. CPU seconds are the JVM's, user and system.

    python -m benchmarks.merge_copies [--tables plain partitioned] [--clauses upsert update] [--files 10] [--rounds 3]
        [--warm 2] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.merge import (
    ENGINES,
    SETTINGS_OF_SPARK,
    VECTORS,
    make_grid,
)
from benchmarks.merge_rounds import set_engine
from benchmarks.session import MAX_FILE_SIZE, scratch
from tests.support.log_replay import live_files

PARTITIONS = 4
TABLES: dict[str, list[str]] = {"plain": [], "partitioned": ["part"]}
"""What each is partitioned by."""

UPDATE = "WHEN MATCHED THEN UPDATE SET v = s.v"
CLAUSES = {"upsert": f"{UPDATE} WHEN NOT MATCHED THEN INSERT *", "update": UPDATE}

FILE_BYTES = 22 << 20
CELL_ROWS = 1000
"""Of each cell, for each file: the grid then has about as many rows as fit into the files."""


def make(spark: SparkSession, folder: Path, name: str, files: int) -> Path:
    """Write a table of about so many files and lay it out."""
    rows, table = folder / "rows", folder / name
    for path in (rows, table):
        shutil.rmtree(path, ignore_errors=True)
    make_grid(spark, rows, vectors=False, cell_rows=files * CELL_ROWS)
    df = spark.read.format("delta").load(str(rows))
    df = df.selectExpr("*", f"pmod(hash(id, 7), {PARTITIONS}) AS part")
    by = TABLES[name]
    writer = df.repartition(*by) if by else df
    writer.write.format("delta").option(VECTORS, False).partitionBy(*by).save(str(table))
    shutil.rmtree(rows)
    optimize(spark, table)
    return table


def optimize(spark: SparkSession, table: Path) -> None:
    spark.sql(f"OPTIMIZE delta.`{table}` ZORDER BY (tenant, ts)").collect()


def merge(spark: SparkSession, table: Path, source: Path, clauses: str) -> None:
    spark.sql(
        f"MERGE INTO delta.`{table}` t USING (SELECT * FROM delta.`{source}`) s ON t.id = s.id "
        f"AND t.tenant = s.tenant {CLAUSES[clauses]}"
    ).collect()


def run(
    spark: SparkSession, original: Path, source: Path, work: Path, clauses: str, engine: str
) -> dict:
    """A MERGE and an OPTIMIZE of a copy: their times, and what each leaves."""
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(original, work, copy_function=os.link)
    set_engine(spark, engine)
    try:
        merged = measured(spark, lambda: merge(spark, work, source, clauses))
        after_merge = live_files(work)
        optimized = measured(spark, lambda: optimize(spark, work))
        after_all = live_files(work)
    finally:
        set_engine(spark, "zcube")
    known = {f.path for f in after_merge}
    written = sum(f.size for f in after_all if f.path not in known)
    return {
        "engine": engine,
        "MERGE": merged,
        "OPTIMIZE": optimized,
        "files after MERGE": len(after_merge),
        "written by OPTIMIZE": written / sum(f.size for f in after_all),
    }


def tables(spark: SparkSession, folder: Path, name: str, files: int) -> tuple[Path, Path]:
    """A table, and a source: of each thousand rows one, of which half are keys of the table."""
    original, source = make(spark, folder, name, files), folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    chosen = (
        spark.read.format("delta")
        .load(str(original))
        .where("id % 1000 = 0")
        .selectExpr("* EXCEPT (id, v)", "IF(id % 2000 = 0, id, -1 - id) AS id", "'new' AS v")
    )
    chosen.coalesce(1).write.format("delta").save(str(source))
    return original, source


def measure(
    spark: SparkSession, original: Path, source: Path, clauses: str, rounds: int, warm: int
) -> dict:
    laid_out, work = live_files(original), original.with_name("work")
    runs = []
    for number in range(-warm, rounds):
        for engine in ENGINES if number % 2 else ENGINES[::-1]:
            figures = run(spark, original, source, work, clauses, engine)
            print(original.name, clauses, number, figures, flush=True)
            if number >= 0:
                runs.append(figures)
    return {
        "table": original.name,
        "clauses": clauses,
        "rows": spark.read.format("delta").load(str(original)).count(),
        "files": len(laid_out),
        "megabytes": sum(f.size for f in laid_out) / 1e6,
        "rounds": rounds,
        "warm": warm,
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--clauses", nargs="+", choices=CLAUSES, default=list(CLAUSES))
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", type=int, default=2, help="rounds that aren't counted")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    settings = SETTINGS_OF_SPARK | {MAX_FILE_SIZE: FILE_BYTES}
    with scratch(settings) as (spark, folder):
        about, saved = machine(), options.output / "merge_copies.json"
        for name in options.tables:
            made = tables(spark, folder, name, options.files)
            for clauses in options.clauses:
                found = measure(spark, *made, clauses, options.rounds, options.warm)
                every = with_kept(saved, ["table", "clauses"], [{"about": about} | found])
                saved.write_text(json.dumps({"runs": every}, indent=1) + "\n")
                markdown.write(options.output / "merge_copies.md", report(every))


def report(cases: list[dict]) -> str:
    lines = [
        "# MERGE with keys all over a clustered table, and OPTIMIZE after it",
        "",
        "Made by `python -m benchmarks.merge_copies`. Without deletion vectors, a MERGE with a source of 0.1 % of the "
        "rows, half of them new, has to copy every file. ZCube's OPTIMIZE then leaves the changed rows in small ZCubes, or "
        "where they are, if there is no WHEN NOT MATCHED. Delta's clusters everything again. Medians, in turns in one warm "
        "JVM, of the whole statements. `spark.zcube.mergeInto.minTableBytes` is 0: by default, tables of this size are left "
        "to Delta.",
    ]
    for case in cases:
        lines += ["", *section(case)]
    return "\n".join([*lines, ""])


def middle(times: list[dict]) -> list[str]:
    """The medians of CPU and wall seconds."""
    return [f"{median(t[of] for t in times):.1f}" for of in ("cpu", "wall")]


def section(table: dict) -> list[str]:
    partitions = f"with {PARTITIONS}" if TABLES[table["table"]] else "without"
    what = {"upsert": "Updates and inserts", "update": "Only updates"}[table["clauses"]]
    lines = [
        f"## {what}, {partitions} partitions",
        "",
        f"{table['rows']:,} rows, {table['files']} files, {table['megabytes']:.0f} MB, rounds {table['rounds']} "
        f"after {table['warm']}. {markdown.described(table['about'])}.",
        "",
        "| engine | MERGE: CPU s | wall s | files after it | OPTIMIZE: CPU s | wall s | share of the table that it writes "
        "| both: CPU s | wall s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for engine, title in zip(ENGINES, ("ZCube", "Delta"), strict=True):
        runs = [r for r in table["runs"] if r["engine"] == engine]
        merge, optimize = ([r[statement] for r in runs] for statement in ("MERGE", "OPTIMIZE"))
        both = [{of: m[of] + o[of] for of in m} for m, o in zip(merge, optimize, strict=True)]
        cells = [
            *middle(merge),
            f"{median(r['files after MERGE'] for r in runs):.0f}",
            *middle(optimize),
            f"{100 * median(r['written by OPTIMIZE'] for r in runs):.3g} %",
            *middle(both),
        ]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
