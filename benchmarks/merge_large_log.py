"""MERGE into a table of 1,000,000 files: the time that pruning by the source's keys takes.

    python -m benchmarks.merge_large_log [--partitions 3334] [--memory 3g] [--output benchmarks/results]

The table is a log with a Parquet checkpoint as Delta writes it (`benchmarks.large_log`); only 300 files exist, and only
these may hold the source's keys, by the ranges of a column that isn't the partitions'. A MERGE that read any other file
would fail, as Delta's own does.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.large_log import FILES_OF_PARTITION, write_table
from benchmarks.machine import machine
from benchmarks.merge import MIN_TABLE_BYTES
from benchmarks.session import DRIVER_MEMORY, session

MERGE = (
    "MERGE INTO delta.`{table}` t USING (SELECT -id AS a FROM range(1, {keys})) s ON t.a = s.a "
    "WHEN MATCHED THEN UPDATE SET s = 'new'"
)

LOGGER = "io.zcube.merge"


def said(log: Path) -> str:
    """The last line of ZCube's log about a MERGE."""
    return [line for line in log.read_text().splitlines() if "MERGE:" in line][-1]


def log_to(spark: SparkSession, file: Path) -> None:
    """Write what the logger of MERGE says to a file."""
    log4j = spark._jvm.org.apache.logging.log4j
    core = log4j.core
    layout = core.layout.PatternLayout.newBuilder().withPattern("%m%n").build()
    builder = core.appender.FileAppender.newBuilder()
    appender = (
        builder.setName("merges").setLayout(layout).withFileName(str(file)).setImmediateFlush(True)
    ).build()
    appender.start()
    context = log4j.LogManager.getContext(False)
    context.getLogger(LOGGER).addAppender(appender)
    # A level that is set at the logger itself is gone with the next change of any logger's.
    core.config.Configurator.setLevel(LOGGER, log4j.Level.INFO)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=3334)
    parser.add_argument("--memory", default="3g")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="zcube-bench-"))
    spark = session(folder, {DRIVER_MEMORY: options.memory, MIN_TABLE_BYTES: 0})
    try:
        table, log = folder / "table", folder / "log"
        write_table(spark, table, options.partitions)
        log_to(spark, log)
        about = machine()
        spark.conf.set("spark.zcube.mergeInto.pruning", "true")
        # Delta builds and caches the table's state.
        count = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(
            spark._jsparkSession, str(table)
        )
        state = measured(spark, lambda: count.unsafeVolatileSnapshot().numOfFiles())
        runs = []
        for keys in (10, 10, 10_000):
            figures = measured(
                spark, lambda n=keys: spark.sql(MERGE.format(table=table, keys=n)).collect()
            )
            text = said(log)
            took = int(re.search(r"(\d+) ms", text)[1])
            runs.append({"keys": keys, "said": text.split("MERGE: ")[1], "ms": took} | figures)
            print(runs[-1], flush=True)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    files = options.partitions * FILES_OF_PARTITION
    lines = [
        "# Pruning a MERGE's target of very many files",
        "",
        markdown.made_by("python -m benchmarks.merge_large_log", about),
        f"A table of {files:,} files in a driver of {options.memory}, whose state Delta has built before "
        f"({state['wall']:.1f} s, {state['cpu']:.1f} CPU s). Pruning: the jobs over the log's statistics and "
        "over the source's keys, and the choice of boxes. The whole MERGE includes Delta's own evaluation "
        "of the statistics.",
        "",
        "| keys | pruning s | the whole MERGE s | its CPU s | what ZCube's log says |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {run['keys']:,} | {run['ms'] / 1000:.1f} | {run['wall']:.1f} | {run['cpu']:.1f} | {run['said']} |"
        for run in runs
    ]
    options.output.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"about": about, "files": files, "state": state, "runs": runs}, indent=1)
    (options.output / "merge_large_log.json").write_text(text + "\n")
    markdown.write(options.output / "merge_large_log.md", "\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
