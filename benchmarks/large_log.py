"""OPTIMIZE … WHERE one of 10,000 partitions of a table of 3,000,000 files, in a driver of 1 GiB.

    python -m benchmarks.large_log [--partitions 10000] [--memory 1g] [--output benchmarks/results]
    python -m benchmarks.large_log --whole [--partitions 3334] [--memory 2g]

With --whole, ZCube alone optimizes all partitions of 1,000,200 files, of which 100 are fresh.

The table is a log with a Parquet checkpoint as Delta writes it; only the files of the one partition
exist. Every other file is tagged as part of a ZCube with the same columns. Delta's own command does
the same on a copy, in a separate process; what it needs to build the table's state, ZCube needs
too.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks import markdown
from benchmarks.cpu import measured
from benchmarks.machine import machine
from benchmarks.session import DRIVER_MEMORY, session

FILES_OF_PARTITION = 300
ROWS_OF_FILE = 200
CHOSEN = 77
PARTS = 20

TEXT = "concat('https://example.org/', repeat('x', 40), '/', lpad(string({0}), 12, '0'))"
ADD = (
    "struct<path: string, partitionValues: map<string, string>, size: bigint, "
    "modificationTime: bigint, dataChange: boolean, tags: map<string, string>, stats: string>"
)
METADATA = (
    "struct<id: string, format: struct<provider: string, options: map<string, string>>, "
    "schemaString: string, partitionColumns: array<string>, configuration: map<string, string>, "
    "createdTime: bigint>"
)
PROTOCOL = "struct<minReaderVersion: int, minWriterVersion: int>"
FIELDS = (("a", "long"), ("s", "string"), ("p", "integer"))
HEAD = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "b6bd2a3c-0000-4000-8000-000000000002",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(
                {
                    "type": "struct",
                    "fields": [
                        {"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in FIELDS
                    ],
                }
            ),
            "partitionColumns": ["p"],
            "configuration": {},
            "createdTime": 0,
        }
    },
]


def chosen_files(spark: SparkSession, table: Path, fresh: int) -> list[dict]:
    """Write the files of the one partition, and return the actions that add them."""
    rows = spark.range(0, FILES_OF_PARTITION * ROWS_OF_FILE, 1, FILES_OF_PARTITION)
    written = table.parent / "chosen"
    rows.selectExpr("hash(id) % 1000000 + 0L a", f"{TEXT.format('id')} s").write.parquet(
        str(written)
    )
    folder = table / f"p={CHOSEN}"
    folder.mkdir(parents=True)
    actions = []
    for number, file in enumerate(sorted(written.glob("part-*.parquet"))):
        name = f"part-{number:05d}.parquet"
        file.rename(folder / name)
        texts = [
            f"https://example.org/{'x' * 40}/{i:012d}"
            for i in (number * ROWS_OF_FILE, (number + 1) * ROWS_OF_FILE - 1)
        ]
        stats = {
            "numRecords": ROWS_OF_FILE,
            "minValues": {"a": -1_000_000, "s": texts[0]},
            "maxValues": {"a": 1_000_000, "s": texts[1]},
            "nullCount": {"a": 0, "s": 0},
        }
        tags = {
            "ZCUBE_ID": f"cube-{CHOSEN}",
            "ZCUBE_ZORDER_BY": '["a","s"]',
            "ZCUBE_ZORDER_CURVE": "kdtree",
        }
        add = {
            "path": f"p={CHOSEN}/{name}",
            "partitionValues": {"p": str(CHOSEN)},
            "size": (folder / name).stat().st_size,
            "modificationTime": 0,
            "dataChange": False,
            "stats": json.dumps(stats),
        }
        actions.append({"add": add if number < fresh else add | {"tags": tags}})
    shutil.rmtree(written)
    return actions


def write_table(
    spark: SparkSession, table: Path, partitions: int, fresh: int = 20, size: int = 100 << 20
) -> None:
    """The log: a first commit, and a checkpoint of version 1."""
    log = table / "_delta_log"
    log.mkdir(parents=True)
    lines = [json.dumps(action) for action in HEAD + chosen_files(spark, table, fresh)]
    (log / f"{0:020d}.json").write_text("\n".join(lines[:2]) + "\n")
    (log / f"{1:020d}.json").write_text(json.dumps({"commitInfo": {"operation": "WRITE"}}) + "\n")
    actions = table.parent / "actions.json"
    actions.write_text("\n".join(lines) + "\n")
    schema = f"add {ADD}, metaData {METADATA}, protocol {PROTOCOL}"
    head = spark.read.schema(schema).json(str(actions)).coalesce(1)
    low, high = TEXT.format("id * 1000"), TEXT.format("id * 1000 + 999")
    stats = (
        'concat(\'{"numRecords":1000,"minValues":{"a":\', id, \',"s":"\', '
        f'{low}, \'"}},"maxValues":{{"a":\', id + 5, \',"s":"\', {high}, '
        '\'"},"nullCount":{"a":0,"s":0}}\')'
    )
    others = (
        spark.range(0, partitions * FILES_OF_PARTITION, 1, PARTS)
        .selectExpr("id", f"string(id % {partitions}) p")
        .where(f"p <> '{CHOSEN}'")
        .selectExpr(
            "named_struct('path', concat('p=', p, '/part-', lpad(string(id), 8, '0'), '-', md5(string(id)), "
            f"'.c000.snappy.parquet'), 'partitionValues', map('p', p), 'size', {size}L, "
            "'modificationTime', 0L, 'dataChange', false, 'tags', "
            "map('ZCUBE_ID', md5(p), 'ZCUBE_ZORDER_BY', '[\"a\",\"s\"]', 'ZCUBE_ZORDER_CURVE', 'kdtree'), "
            f"'stats', {stats}) add",
            f"cast(null AS {METADATA}) metaData",
            f"cast(null AS {PROTOCOL}) protocol",
        )
    )
    written = table.parent / "checkpoint"
    head.union(others).write.parquet(str(written))
    parts = sorted(written.glob("part-*.parquet"))
    for number, part in enumerate(parts, 1):
        part.rename(log / f"{1:020d}.checkpoint.{number:010d}.{len(parts):010d}.parquet")
    count = partitions * FILES_OF_PARTITION + len(HEAD)
    (log / "_last_checkpoint").write_text(
        json.dumps({"version": 1, "size": count, "parts": len(parts)})
    )
    shutil.rmtree(written)
    actions.unlink()


@dataclass(frozen=True)
class Case:
    """A table, and what is measured on it.

    Args:
        title: of the page of results.
        arguments: of the command that makes it.
        partitions: of 300 files each.
        fresh: how many files of the one partition aren't clustered.
        size: bytes of each file of the others, according to the log.
        memory: of the driver.
        statements: for each who runs them.
    """

    title: str
    arguments: str
    partitions: int
    fresh: int
    size: int
    memory: str
    statements: dict[str, list[str]]


CASES = {
    "large_log": Case(
        title="WHERE one partition of very many files",
        arguments="",
        partitions=10_000,
        fresh=20,
        size=100 << 20,
        memory="1g",
        statements={
            "zcube": [
                "OPTIMIZE {t} WHERE p = 77 ZORDER BY (a, s) DRY RUN",
                "DESCRIBE CLUSTERING {t} BY (a, s) WHERE p = 77",
                "OPTIMIZE {t} WHERE p = 77 ZORDER BY (a, s)",
            ],
            "delta": ["OPTIMIZE {t} WHERE p = 77 ZORDER BY (a, s)"],
        },
    ),
    "large_log_whole": Case(
        title="100 fresh files among very many",
        arguments=" --whole",
        partitions=3334,
        fresh=100,
        # Of the target size, so that other files stay.
        size=1 << 30,
        memory="2g",
        statements={
            "zcube": [
                "DESCRIBE CLUSTERING {t} BY (a, s) WHERE p = 77",
                "OPTIMIZE {t} ZORDER BY (a, s) DRY RUN",
                "OPTIMIZE {t} ZORDER BY (a, s)",
                "OPTIMIZE {t} ZORDER BY (a, s)",
            ]
        },
    ),
}


def child(table: Path, statements: list[str], who: str, memory: str) -> None:
    """Run the statements, and print a line of JSON after each."""
    settings = {
        DRIVER_MEMORY: memory,
        "spark.zcube.enabled": str(who == "zcube").lower(),
    }
    spark = session(table.parent, settings)
    beans = spark._jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    for statement in statements:
        before = sum(bean.getCollectionTime() for bean in beans)
        times = measured(
            spark, lambda s=statement: spark.sql(s.format(t=f"delta.`{table}`")).collect()
        )
        gc = (sum(bean.getCollectionTime() for bean in beans) - before) / 1000
        line = {"who": who, "statement": statement.format(t="t"), "gc": gc} | times
        print("RESULT " + json.dumps(line), flush=True)
    spark.stop()


def measure(table: Path, name: str, who: str, memory: str) -> list[dict]:
    """The child's lines, with an error line at the end if it didn't finish."""
    command = [
        sys.executable, "-m", "benchmarks.large_log",
        "--case", name, "--child", who, "--table", str(table), "--memory", memory,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    found = [json.loads(line.removeprefix("RESULT ")) for line in lines]
    if done.returncode:
        asked = CASES[name].statements[who]
        failed = asked[len(found)].format(t="t") if len(found) < len(asked) else ""
        said = "out of memory" if "OutOfMemory" in done.stdout + done.stderr else "failed"
        print(done.stderr[-20000:], file=sys.stderr)
        found.append({"who": who, "statement": failed, "error": said})
    return found


def report(
    case: Case, about: dict[str, str], runs: list[dict], partitions: int, memory: str
) -> str:
    lines = [
        f"# {case.title}",
        "",
        markdown.made_by(f"python -m benchmarks.large_log{case.arguments}", about),
        f"A table of {partitions * FILES_OF_PARTITION:,} files in {partitions:,} partitions, in a driver of "
        f"{memory} (local mode: the table's state, which Delta builds, is in the same heap). The first "
        "statement of each process builds the state. GC: seconds of the wall's in the collector. Load: the "
        "machine's average in the last 15 minutes, of which the benchmark is 2 to 3.",
        "",
        "| by | statement | wall s | CPU s | GC s |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        figures = (
            run["error"] + " | |"
            if "error" in run
            else f"{run['wall']:.1f} | {run['cpu']:.1f} | {run['gc']:.1f}"
        )
        lines.append(f"| {run['who']} | `{run['statement']}` | {figures} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--whole", dest="case", action="store_const", const="large_log_whole", default="large_log"
    )
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--memory")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--who", nargs="+")
    # Of the processes that measure.
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--child")
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    name, case = options.case, CASES[options.case]
    if options.child:
        child(options.table, case.statements[options.child], options.child, options.memory)
        return
    partitions = options.partitions or case.partitions
    memory = options.memory or case.memory
    asked = options.who or list(case.statements)
    folder = Path(tempfile.mkdtemp(prefix="zcube-bench-"))
    try:
        spark = session(folder, {DRIVER_MEMORY: "3g"})
        write_table(spark, folder / "made" / "table", partitions, case.fresh, case.size)
        spark.stop()
        for who in asked:
            shutil.copytree(folder / "made", folder / who)
        about = machine()
        options.output.mkdir(parents=True, exist_ok=True)
        runs = []
        for who in asked:
            runs += measure(folder / who / "table", name, who, memory)
            # Wall seconds mean little on a busy machine.
            about["load"] = f"{os.getloadavg()[2]:.1f}"
            print(*runs, sep="\n", flush=True)
            text = json.dumps({"about": about, "memory": memory, "runs": runs}, indent=1)
            (options.output / f"{name}.json").write_text(text + "\n")
            page = report(case, about, runs, partitions, memory)
            markdown.write(options.output / f"{name}.md", page)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if any("error" in run and run["who"] == "zcube" for run in runs):
        raise SystemExit("ZCube didn't come to its end")


if __name__ == "__main__":
    main()
