"""Incremental clustering on four streams of appends: how much is rewritten, and what queries read.

Each stream starts with a clustered table of about 200 files and appends 0.5 % of it 200 times, with
an OPTIMIZE after each. Every twentieth time, 200 seeded queries are evaluated on the log's
statistics, for the table and for a full clustering of the same rows by ZCube, along a k-d tree.
Delta's own OPTIMIZE runs on the same stream, for fewer appends, because it rewrites everything each
time: its total is extrapolated by the size of the table.

    python -m benchmarks.streams [--appends 200] [--settings default,write] [--output …]
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.kept import with_kept
from benchmarks.machine import machine
from benchmarks.session import (
    DRIVER_MEMORY,
    MAX_FILE_SIZE,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    scratch,
)
from tests.support.log_replay import actions, last_version, live_files

FILES, ROWS = 200, 400
# An append makes a file of about 8.4 KiB: 0.5 % of the table, and near the size of its files.
FILE_BYTES = 9 << 10
STREAMS = ("uniform", "time", "hot", "url")
# Of the stream ``url``: as ``time``, but x are texts, with their digits as long as Delta's statistics.
PREFIX = "https://example.org/"
SETTINGS = {
    "read": {"fanOut": "3", "share": "0.1"},
    "default": {},
    "write": {"fanOut": "8", "share": "0.6"},
    "budget": {},
    "all": {"policy": "all"},
}
# Of `budget`: the bytes of a run, as a share of the table.
BUDGET = 0.05
BARS = (
    "The bars, rewritten and read: `uniform` and `hot` 8 and 1.4, with `write` 5 and 2.0; `time` 2.5 "
    "and 1.3. The figures don't depend on how busy the machine is."
)

SETTINGS_OF_SPARK = {
    DRIVER_MEMORY: "3g",
    SHUFFLE_PARTITIONS: 2,
    SNAPSHOT_PARTITIONS: 2,
    MAX_FILE_SIZE: FILE_BYTES,
}


def rows(stream: str, number: int, random: np.random.Generator) -> np.ndarray:
    """Append ``number``; 0 is the initial table. Columns x and y are integers below 10^12."""
    count = FILES * ROWS if number == 0 else FILES * ROWS // 200
    x, y = random.random(count), random.random(count)
    if stream in ("time", "url"):
        # Mostly ascending: a row is late by one append on average.
        x = x * 200 if number == 0 else 200 + number + x - random.exponential(1.0, count)
    elif stream == "hot" and number > 0:
        x = np.where(random.random(count) < 0.9, 0.4 + x / 10, x)
    return np.stack([(x * 1e9).astype(np.int64), (y * 1e9).astype(np.int64)], axis=1)


def write(
    spark: SparkSession, table: str, values: np.ndarray, stream: str, *, create: bool = False
) -> None:
    import pandas as pd

    frame = pd.DataFrame({"x": values[:, 0], "y": values[:, 1]})
    if stream == "url":
        frame["x"] = [f"{PREFIX}{x:012}" for x in values[:, 0]]
    frame["payload"] = values[:, 0] ^ (values[:, 1] * 7919)
    df = spark.createDataFrame(frame).coalesce(1)
    writer = df.write.format("delta")
    (writer.clusterBy("x", "y") if create else writer.mode("append")).save(table)


def boxes(table: str) -> np.ndarray:
    """Lower and upper corners of the table's files, from its log."""

    def number(value: int | str) -> int:
        return int(value.removeprefix(PREFIX)) if isinstance(value, str) else value

    corners = [
        [[number(end[column]) for column in ("x", "y")] for end in (file.minimum, file.maximum)]
        for file in live_files(table)
    ]
    return np.array(corners, dtype=float)


def queries(values: np.ndarray) -> list[list[np.ndarray]]:
    """50 each of: a range of 1 % of one column, a box of 10 %, a point, an OR of two ranges."""
    random = np.random.default_rng(7)
    ordered = np.sort(values, axis=0)
    last = len(values) - 1

    def span(column: int, width: float) -> tuple[float, float]:
        start = random.random() * (1 - width)
        return ordered[int(start * last), column], ordered[int((start + width) * last), column]

    def box(x: tuple[float, float], y: tuple[float, float]) -> np.ndarray:
        return np.array([[x[0], y[0]], [x[1], y[1]]], dtype=float)

    everything = (-np.inf, np.inf)
    made = []
    for number in range(200):
        kind = number % 4
        if kind == 0:
            side = span(number // 4 % 2, 0.01)
            made.append([box(side, everything) if number // 4 % 2 == 0 else box(everything, side)])
        elif kind == 1:
            made.append([box(span(0, 0.1**0.5), span(1, 0.1**0.5))])
        elif kind == 2:
            point = values[random.integers(len(values))].astype(float)
            made.append([np.array([point, point])])
        else:
            made.append([box(span(0, 0.01), everything), box(everything, span(1, 0.01))])
    return made


def files_read(files: np.ndarray, asked: list[list[np.ndarray]]) -> float:
    total = 0
    for parts in asked:
        hit = np.zeros(len(files), dtype=bool)
        for part in parts:
            hit |= np.all((files[:, 0] <= part[1]) & (files[:, 1] >= part[0]), axis=1)
        total += int(hit.sum())
    return total / len(asked)


def run(spark: SparkSession, folder: Path, stream: str, setting: str, appends: int) -> dict:
    engine = "delta" if setting == "delta" else "zcube"
    for key in ("fanOut", "share", "policy"):
        spark.conf.unset(f"spark.zcube.merge.{key}")
    for key, value in SETTINGS.get(setting, {}).items():
        spark.conf.set(f"spark.zcube.merge.{key}", value)
    table, copy = str(folder / "table"), str(folder / "copy")
    shutil.rmtree(table, ignore_errors=True)
    random = np.random.default_rng(11)
    values = rows(stream, 0, random)
    spark.conf.set("spark.zcube.enabled", "true")
    write(spark, table, values, stream, create=True)
    spark.sql(f"OPTIMIZE delta.`{table}`").collect()
    rewritten = appended = 0
    readings: list[tuple[float, float]] = []
    started = time.monotonic()
    for number in range(1, appends + 1):
        more = rows(stream, number, random)
        values = np.concatenate([values, more])
        write(spark, table, more, stream)
        commit = actions(table, last_version(table))
        appended += sum(action["add"]["size"] for action in commit if "add" in action)
        spark.conf.set("spark.zcube.enabled", str(engine == "zcube").lower())
        statement = f"OPTIMIZE delta.`{table}`"
        if setting == "budget":
            budget = int(BUDGET * sum(file.size for file in live_files(table)))
            statement += f" OPTIONS ('maxBytes' = '{budget}')"
        metrics = spark.sql(statement).collect()[0]["metrics"]
        spark.conf.set("spark.zcube.enabled", "true")
        rewritten += metrics["filesAdded"]["totalSize"] or 0
        if number % 20 == 0:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(table, copy)
            # Without FULL, cubes that Delta made along its Hilbert curve would stay.
            full = f"OPTIMIZE delta.`{copy}` FULL OPTIONS ('mergePolicy' = 'all')"
            metrics = spark.sql(full).collect()[0]["metrics"]
            if engine == "delta" and not metrics["filesAdded"]["totalSize"]:
                raise RuntimeError(
                    "Delta's files were not clustered anew: it is compared with itself"
                )
            asked = queries(values)
            readings.append((files_read(boxes(table), asked), files_read(boxes(copy), asked)))
    now, best = (sum(column) for column in zip(*readings, strict=True))
    done = rewritten / appended
    # What is not run to the end rewrites the whole table each time: 1 + 0.005 n of its first size after n appends.
    whole = sum(1 + 0.005 * n for n in range(1, 201)) / sum(
        1 + 0.005 * n for n in range(1, appends + 1)
    )
    return {
        "stream": stream,
        "setting": setting,
        "appends": appends,
        "rewritten": round(done if appends == 200 else done * whole * appends / 200, 2),
        "read": round(now / best, 3),
        "worst": round(max(read / full for read, full in readings), 3),
        "files": len(boxes(table)),
        "seconds": round(time.monotonic() - started),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--appends", type=int, default=200)
    parser.add_argument("--delta-appends", type=int, default=20)
    parser.add_argument("--settings", default=",".join([*SETTINGS, "delta"]))
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    runs = []
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        for setting in options.settings.split(","):
            # Runs that rewrite everything each time are cut short.
            short = setting in ("delta", "all")
            appends = min(options.appends, options.delta_appends) if short else options.appends
            for stream in options.streams.split(","):
                runs.append(run(spark, folder, stream, setting, appends))
                print(runs[-1], flush=True)
                save(options.output, runs)


def save(output: Path, runs: list[dict]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    about = machine()
    saved = output / "streams.json"
    every = with_kept(saved, ["stream", "setting"], runs)
    every.sort(key=lambda r: ([*SETTINGS, "delta"].index(r["setting"]), r["stream"]))
    saved.write_text(json.dumps({"about": about, "runs": every}, indent=1))
    lines = [
        "# Incremental clustering: reading against rewriting",
        "",
        markdown.made_by("python -m benchmarks.streams", about),
        "",
        "Bytes rewritten for each byte appended over the whole stream of 200 appends of 0.5 %, and",
        "files read by 200 queries as a multiple of those that a full clustering reads at the same",
        "moment. `all` and `delta` rewrite the whole table each time; they ran for fewer appends,",
        "and their totals are continued in proportion to the table's size.",
        "",
        "| stream | setting | appends | rewritten | read | at the worst moment | files at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['stream']} | {r['setting']} | {r['appends']} | {r['rewritten']:.2f} "
        f"| {r['read']:.2f} | {r.get('worst', '–')} | {r['files']} |"
        for r in every
    ]
    settings = "; ".join(
        f"`{name}` " + ", ".join(f"{option} {value}" for option, value in options.items())
        for name, options in SETTINGS.items()
        if options
    )
    settings += f"; `budget` maxBytes {BUDGET:.0%} of the table in each run"
    lines += ["", BARS, f"Settings other than the default's: {settings}."]
    markdown.write(output / "streams.md", "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
