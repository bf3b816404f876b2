"""Rounds of MERGE, with an OPTIMIZE after each: whether layout, bytes and time stay as they are.

A clustered table of about 200 files by (x, y) gets 200 MERGEs by its keys. Each has 1 % of the first rows' number: half
are keys of the table, whose rows are updated, half are new. Every twentieth time, 200 seeded queries are evaluated on
the log's statistics, for the table and for a full clustering of the same rows by ZCube. Delta does the same for fewer
rounds, because its OPTIMIZE rewrites everything each time. What is known is written every twentieth time, so that a
run can be ended before. The table is small: sizes that matter are set in proportion.

    python -m benchmarks.merge_rounds [--rounds 200] [--delta-rounds 20] [--streams uniform hot]
        [--vectors with without] [--engines zcube delta] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import numpy as np
from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import timed
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.merge import ENGINES, MIN_TABLE_BYTES, VECTORS, VECTORS_OR_NOT
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    scratch,
)
from benchmarks.streams import FILE_BYTES, FILES, ROWS, boxes, files_read, queries, rows
from tests.support.log_replay import actions, last_version, live_files

EACH = FILES * ROWS // 100
"""The rows of a source."""

READING = 20
"""After how many rounds the queries are evaluated, and the results written."""

STREAMS = ("uniform", "hot")

SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 2,
    SNAPSHOT_PARTITIONS: 2,
    MAX_FILE_SIZE: FILE_BYTES,
    # As in a large table: it is pruned, and its files are too large to be broadcast, unlike a source's keys.
    MIN_TABLE_BYTES: 0,
    "spark.sql.autoBroadcastJoinThreshold": "200k",
    # A task of Delta reads what becomes a few files, so that there aren't so many that they take most of the time.
    # ZCube has one for each file that it copies without vectors: no file is small.
    "spark.sql.files.maxPartitionBytes": 16 * FILE_BYTES,
    "spark.sql.files.openCostInBytes": 0,
}


def source(stream: str, number: int, values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Keys of the table, then new ones; in the table of the hot stream, nine in ten in a tenth of x."""
    if stream == "hot":
        in_tenth = (values[:, 0] >= 0.4e9) & (values[:, 0] < 0.5e9)
        weights = np.where(in_tenth, 0.9 / in_tenth.sum(), 0.1 / (~in_tenth).sum())
    else:
        weights = np.full(len(values), 1 / len(values))
    known = values[random.choice(len(values), EACH // 2, replace=False, p=weights)]
    # An append of `rows` has half a per cent.
    return np.concatenate([known, rows(stream, number, random)])


def save_rows(spark: SparkSession, path: str, keys: np.ndarray, number: int) -> None:
    import pandas as pd

    frame = pd.DataFrame({"x": keys[:, 0], "y": keys[:, 1]})
    frame["payload"] = keys[:, 0] ^ (keys[:, 1] * 7919)
    frame["round"] = number
    spark.createDataFrame(frame).coalesce(1).write.format("delta").mode("overwrite").save(path)


def make(spark: SparkSession, table: str, values: np.ndarray, vectors: bool) -> None:
    made = f"{table}-rows"
    save_rows(spark, made, values, 0)
    spark.sql(
        f"CREATE TABLE delta.`{table}` (x BIGINT, y BIGINT, payload BIGINT, round BIGINT) USING delta "
        f"CLUSTER BY (x, y) TBLPROPERTIES ('{VECTORS}' = '{str(vectors).lower()}')"
    )
    spark.read.format("delta").load(made).write.format("delta").mode("append").save(table)
    spark.sql(f"OPTIMIZE delta.`{table}`").collect()


def written(table: str, after: int) -> int:
    """The bytes of the files that commits after a version added, without those whose rows only got marks."""
    total = 0
    for version in range(after + 1, last_version(table) + 1):
        commit = actions(table, version)
        removed = {a["remove"]["path"] for a in commit if "remove" in a}
        total += sum(
            a["add"]["size"] for a in commit if "add" in a and a["add"]["path"] not in removed
        )
    return total


def run(
    spark: SparkSession, folder: Path, stream: str, vectors: bool, engine: str, count: int
) -> Iterator[dict]:
    """The results so far, after every twentieth round."""
    table, changes, copy = (str(folder / name) for name in ("table", "changes", "copy"))
    for path in (table, f"{table}-rows", changes):
        shutil.rmtree(path, ignore_errors=True)
    random = np.random.default_rng(11)
    values = rows(stream, 0, random)
    set_engine(spark, "zcube")
    make(spark, table, values, vectors)
    about = {"stream": stream, "vectors": vectors, "engine": engine}
    readings: list[tuple[float, float]] = []
    rounds: list[dict[str, float]] = []
    for number in range(1, count + 1):
        keys = source(stream, number, values, random)
        values = np.concatenate([values, keys[EACH // 2 :]])
        save_rows(spark, changes, keys, number)
        set_engine(spark, engine)
        size = sum(file.size for file in live_files(table))
        figures = {}
        for what, statement in (
            (
                "merge",
                f"MERGE INTO delta.`{table}` t USING delta.`{changes}` s ON t.x = s.x AND t.y = s.y "
                "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
            ),
            ("optimize", f"OPTIMIZE delta.`{table}`"),
        ):
            before = last_version(table)
            time = timed(spark, lambda statement=statement: spark.sql(statement).collect())
            figures |= {
                f"{what} wall": time["wall"],
                f"{what} cpu": time["cpu"],
                f"{what} share": written(table, before) / size,
            }
        rounds.append(figures)
        set_engine(spark, "zcube")
        if number % READING == 0:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(table, copy)
            full = f"OPTIMIZE delta.`{copy}` FULL OPTIONS ('mergePolicy' = 'all')"
            spark.sql(full).collect()
            asked = queries(values)
            readings.append((files_read(boxes(table), asked), files_read(boxes(copy), asked)))
            yield about | summary(rounds, readings)
    found = spark.read.format("delta").load(table).count()
    if found != len(values):
        raise RuntimeError(f"{found} rows instead of {len(values)}")


def summary(rounds: list[dict[str, float]], readings: list[tuple[float, float]]) -> dict:
    now, best = (sum(column) for column in zip(*readings, strict=True))
    quarter = len(rounds) // 4
    result = {
        "rounds": len(rounds),
        "read": round(now / best, 3),
        "worst": round(max(read / full for read, full in readings), 3),
    }
    for name in rounds[0]:
        digits = 3 if name.endswith("share") else 2
        result |= {
            f"{name} first": round(fmean(r[name] for r in rounds[:quarter]), digits),
            f"{name} last": round(fmean(r[name] for r in rounds[-quarter:]), digits),
        }
    return result


def span(run: dict, name: str) -> str:
    """The first and the last quarter's figure; a dash for a run from before it was measured."""
    return f"{run[f'{name} first']} to {run[f'{name} last']}" if f"{name} first" in run else "–"


def set_engine(spark: SparkSession, engine: str) -> None:
    for key in ("spark.zcube.enabled", "spark.zcube.mergeInto.pruning"):
        spark.conf.set(key, str(engine == "zcube").lower())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--delta-rounds", type=int, default=20)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=STREAMS)
    parser.add_argument("--vectors", nargs="+", choices=VECTORS_OR_NOT, default=VECTORS_OR_NOT)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    if min(options.rounds, options.delta_rounds) < READING:
        parser.error(f"at least {READING} rounds")
    runs: list[dict] = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        for engine in options.engines:
            count = options.rounds if engine == "zcube" else options.delta_rounds
            for vectors in options.vectors:
                for stream in options.streams:
                    results = run(spark, folder, stream, vectors == "with", engine, count)
                    before = runs
                    for result in results:
                        print(result, flush=True)
                        runs = [*before, result]
                        save(options.output, runs)


def save(output: Path, runs: list[dict]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    about = machine()
    saved = output / "merge_rounds.json"
    every = with_kept(saved, ["stream", "vectors", "engine"], runs)
    every.sort(key=lambda r: (r["stream"], not r["vectors"], r["engine"]))
    lines = [
        "# Rounds of MERGE and OPTIMIZE",
        "",
        markdown.made_by("python -m benchmarks.merge_rounds", about),
        f"A table of about {FILES} files, clustered by two columns; each MERGE has 1 % of its first rows' number, half "
        "updates, half inserts, by both columns; an OPTIMIZE after each.",
        "",
        "Written: the bytes of new files, as a share of the table's at that moment, in the mean of the first and of "
        "the last quarter of the rounds; the same for CPU and wall seconds. Read: files that 200 queries read, as a "
        "multiple of those that a full clustering by ZCube reads at the same moment.",
        "",
        "| stream | deletion vectors | engine | rounds | read | at the worst moment | MERGE writes | OPTIMIZE writes "
        "| MERGE CPU s | OPTIMIZE CPU s | MERGE wall s | OPTIMIZE wall s |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in every:
        parts = [
            span(r, f"{what} {unit}")
            for unit in ("share", "cpu", "wall")
            for what in ("merge", "optimize")
        ]
        lines.append(
            f"| {r['stream']} | {'with' if r['vectors'] else 'without'} | {r['engine']} | {r['rounds']} "
            f"| {r['read']:.2f} | {r['worst']:.2f} | {' | '.join(parts)} |"
        )
    saved.write_text(json.dumps({"about": about, "runs": every}, indent=1) + "\n")
    markdown.write(output / "merge_rounds.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
