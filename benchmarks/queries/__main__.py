"""What queries gain from each layout: TPC-H's 22, 20 selective ones, and 30 on a web log.

Spark runs them on the unclustered tables, on those that Delta, ZCube and delta-rs clustered, and, if
an environment with PySpark 4.1 is given, on Iceberg's. Makes docs/leaderboard.md. Runs of sets that
aren't asked for stay as they are on record.

    python -m benchmarks.queries [--scale 1] [--rounds 3] [--iceberg .build/venv-4.1/bin/python]
                                 [--sets "selective on TPC-H,web log"]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.cpu import collect_garbage
from benchmarks.machine import machine
from benchmarks.queries import bounds, report
from benchmarks.queries import tables as all_tables
from benchmarks.queries.layouts import BY_SPARK, COMPRESSION, LAYOUTS, Layouts
from benchmarks.queries.measure import run
from benchmarks.queries.other_spark import ICEBERG, iceberg
from benchmarks.queries.query import Query
from benchmarks.queries.results import with_earlier
from benchmarks.session import (
    DRIVER_MEMORY,
    SHUFFLE_PARTITIONS,
    SNAPSHOT_PARTITIONS,
    bench_data,
    scratch,
)
from tests.support.log_replay import live_files

SETTINGS = {
    DRIVER_MEMORY: "4g",
    SHUFFLE_PARTITIONS: 4,
    SNAPSHOT_PARTITIONS: 2,
    "spark.sql.session.timeZone": "UTC",
}

Found = dict[str, Any]


class Benchmark:
    """A run of the benchmark: collects the results."""

    def __init__(self, scale: float, rounds: int, every: int, sets: Sequence[str]) -> None:
        cache = bench_data()
        self.rounds = rounds
        self.tables = all_tables.clustered(cache, scale)
        self.plain = all_tables.plain(cache, scale)
        self.sets = all_tables.queries(self.tables, scale)
        unknown = set(sets) - set(self.sets)
        if unknown:
            raise ValueError(f"no sets of queries: {unknown}; there are {list(self.sets)}")
        self.asked = {name: self.sets[name][::every] for name in sets or self.sets}
        self.clustering: list[Found] = []
        self.once: list[str] = []
        self._runs: dict[tuple[str, str], list[Found]] = {}
        self._answers: dict[str, list[str]] = {}
        self._started = time.monotonic()

    def queries(self) -> list[Query]:
        """Those that run."""
        return [query for queries in self.asked.values() for query in queries]

    def of_one_table(self) -> list[Query]:
        """Of these, those whose condition is known as such."""
        return [query for query in self.queries() if query.where]

    def matches(self) -> list[Found]:
        """For each query of a single table how many rows match, and how many columns it compares."""
        tables = {table.name: table for table in self.tables}
        found = []
        for query in self.of_one_table():
            table = tables[query.table or ""]
            matching, rows = bounds.matching(query, table.source)
            compared = {side.column for side in query.where} & set(table.by)
            found.append(
                {"query": query.name, "table": table.name, "matching": matching, "rows": rows}
                | {"compared": len(compared)}
            )
        return found

    def by_spark(
        self, spark: SparkSession, folder: Path, after_round: Callable[[int], None]
    ) -> None:
        """Cluster the tables and run the queries in this Spark session.

        Args:
            spark: the session.
            folder: for the tables.
            after_round: called with the number of rounds that are done, without the first.
        """
        layouts = Layouts(spark, folder)
        # All queries, also those that don't run now.
        workload = [query for queries in self.sets.values() for query in queries]
        for table in self.tables:
            for layout in LAYOUTS:
                took = layouts.write(layout, table, workload)
                path = layouts.path(layout, table)
                files = [str(path / file.path) for file in live_files(path)]
                self._add_clustering(layout, table.name, took, files)
        names = {layouts.path(x, table): table.name for x in LAYOUTS for table in self.tables}
        sessions = {layout: spark.newSession() for layout in LAYOUTS}
        for layout, session in sessions.items():
            for name, file in self.plain.items():
                session.read.parquet(str(file)).createOrReplaceTempView(name)
            for table in self.tables:
                rows = session.read.format("delta").load(str(layouts.path(layout, table)))
                rows.createOrReplaceTempView(table.name)
        asked = self.queries()
        # Round 0 warms the JVM up, and its times aren't counted.
        for number in range(self.rounds + 1):
            for place, query in enumerate(asked):
                # Others' layouts are compared by the queries whose condition is known.
                compared = list(LAYOUTS if query.where else BY_SPARK)
                # Once for all layouts: before each of the short runs it would take as long as they.
                collect_garbage(spark)
                for layout in in_turn(compared, number, place):
                    rows, took, read = run(sessions[layout], query.sql, names)
                    self._check(query, layout, [str(tuple(row)) for row in rows])
                    self._add_run(query.name, layout, {**took, **_sums(read)})
                if number == 0 and self._reads_the_same(query, compared):
                    self.once.append(query.name)
            asked = [query for query in asked if query.name not in self.once]
            # After each round, so that an interrupted run has results.
            after_round(number)

    def _reads_the_same(self, query: Query, layouts: list[str]) -> bool:
        """Whether all layouts read as many files, so that there is nothing to compare."""
        return len({self._runs[query.name, layout][0]["files"] for layout in layouts}) == 1

    def by_iceberg(self, python: Path, folder: Path) -> dict[str, str]:
        """Let Iceberg do the same; returns its versions."""
        compared = self.of_one_table()
        with iceberg(python, folder, SETTINGS, self.tables, compared) as result:
            for table in result["tables"]:
                took = {"wall": table["wall"], "cpu": table["cpu"]}
                self._add_clustering(ICEBERG, table["name"], took, table["files"])
        queries = {query.name: query for query in compared}
        for measured in result["runs"]:
            name = measured.pop("query")
            self._check(queries[name], ICEBERG, measured.pop("answer"))
            self._add_run(name, ICEBERG, measured)
        return {f"{name} (Iceberg)": version for name, version in result["versions"].items()}

    def _add_clustering(
        self, layout: str, table: str, took: dict[str, float], files: list[str]
    ) -> None:
        groups = bounds.RowGroups(files)
        of_table = [query for query in self.of_one_table() if query.table == table]
        self.clustering.append(
            {"table": table, "layout": layout, **took}
            | {"files": len(files), "bytes": sum(os.path.getsize(file) for file in files)}
            | {"row_groups": groups.count}
            | {"row_groups_read": {query.name: groups.read(query)[1] for query in of_table}}
        )
        self._say(table, layout, took, len(files), groups.count)

    def _add_run(self, query: str, layout: str, found: Found) -> None:
        self._runs.setdefault((query, layout), []).append(found)
        self._say(query, layout, *found.values())

    def runs(self) -> list[Found]:
        """For each query and layout the figures of the scans, and the medians of the times."""
        return [
            {"query": query, "layout": layout, **found[0]}
            # The first is the warm-up, unless there is no other.
            | {k: statistics.median(one[k] for one in found[1:] or found) for k in ("cpu", "wall")}
            for (query, layout), found in self._runs.items()
        ]

    def _check(self, query: Query, layout: str, answer: list[str]) -> None:
        """Every layout must give the same answer."""
        first = self._answers.setdefault(query.name, answer)
        if answer != first:
            raise AssertionError(f"{query.name} by {layout}: {answer[:3]}, not {first[:3]}")

    def _say(self, *what: object) -> None:
        print(f"{time.monotonic() - self._started:.0f} s", *what, flush=True)


def in_turn(layouts: Sequence[str], number: int, place: int) -> list[str]:
    """The order of the layouts in a round: over the queries each is first equally often.

    In every other round the order is reversed, so that a layout doesn't always follow the same one.

    Args:
        layouts: those that are compared.
        number: of the round.
        place: of the query.
    """
    turn = (number + place) % len(layouts)
    order = [*layouts[turn:], *layouts[:turn]]
    return order[::-1] if number % 2 else order


def _sums(read: dict[str, dict[str, int]]) -> dict[str, int]:
    return {
        figure: sum(of_table[figure] for of_table in read.values())
        for figure in ("files", "bytes", "rows")
    }


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=1, help="each n-th query only, for a trial")
    parser.add_argument("--sets", default="", help="of queries, separated by commas; all if none")
    parser.add_argument("--iceberg", type=Path, metavar="PYTHON")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--page", type=Path, default=Path("docs/leaderboard.md"))
    options = parser.parse_args()
    started = time.monotonic()
    sets = [name for name in options.sets.split(",") if name]
    benchmark = Benchmark(options.scale, options.rounds, options.every, sets)
    record = options.output / "queries.json"
    before = json.loads(record.read_text()) if record.exists() else None
    matches = benchmark.matches()
    about = machine() | {"delta-rs": metadata.version("deltalake"), "delta-rs files": COMPRESSION}
    about |= {"scale": f"{options.scale:g}", "warm-up rounds": "1"}
    load = f"{os.getloadavg()[0]:.1f}"

    def write(rounds: int) -> None:
        minutes = f"{(time.monotonic() - started) / 60:.0f}"
        loads = f"{load} before, {os.getloadavg()[0]:.1f} after"
        result = {
            "about": about | {"rounds": str(rounds), "minutes": minutes, "load": loads},
            "tables": [
                {"table": t.name, "by": list(t.by), "files": t.files} for t in benchmark.tables
            ],
            "sets": {name: [q.name for q in queries] for name, queries in benchmark.asked.items()},
            "sql": {query.name: query.sql for query in benchmark.queries()},
            "matches": matches,
            "once": benchmark.once,
            "clustering": benchmark.clustering,
            "runs": benchmark.runs(),
        }
        if before:
            result = with_earlier(result, before)
        options.output.mkdir(parents=True, exist_ok=True)
        record.write_text(report.as_json(result))
        options.page.write_text(report.as_page(result))

    if options.iceberg and benchmark.of_one_table():
        with tempfile.TemporaryDirectory(prefix="zcube-bench-") as folder:
            about |= benchmark.by_iceberg(options.iceberg, Path(folder))
    with scratch(SETTINGS) as (spark, tables):
        about["java"] = spark._jvm.java.lang.System.getProperty("java.version")
        benchmark.by_spark(spark, tables, write)


if __name__ == "__main__":
    main()
