"""Row groups that queries must read inside files, by layout, according to PyArrow.

The files of each layout are written with small row groups. Then PyArrow, which uses neither Spark
nor Delta's log, determines for each of 400 seeded queries which row groups of the table's files
their statistics don't rule out.

    python -m benchmarks.quality.row_groups [--data lineitem] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import functools
import json
import operator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from benchmarks import markdown
from benchmarks.machine import machine
from benchmarks.quality import datasets
from benchmarks.quality.__main__ import SETTINGS_OF_SPARK
from benchmarks.quality.layouts import LAYOUTS, Layouts
from benchmarks.quality.queries import EACH, KINDS, Query, draw
from benchmarks.session import bench_data, scratch

COLUMNS = 2
FILES = 8
BLOCK = 24 << 10
"""``parquet.block.size``: some ten row groups in each file."""


def expression(query: Query, schema: pa.Schema) -> pc.Expression:
    """The query as PyArrow's filter."""
    sides = []
    for column, low, high in query.intervals:
        name = f"c{column}"
        # Queries have values as the log's JSON does; a date is text there.
        ends = [pa.scalar(end).cast(schema.field(name).type) for end in (low, high)]
        sides.append((pc.field(name) >= ends[0]) & (pc.field(name) <= ends[1]))
    return functools.reduce(operator.or_ if query.kind == "or" else operator.and_, sides)


def read(files: list[str], queries: list[Query]) -> dict[str, Any]:
    """The contents of a layout's files, and what each kind of query must read."""
    table = ds.dataset(files, format="parquet")
    fragments = list(table.get_fragments())
    for fragment in fragments:
        fragment.ensure_complete_metadata()
    found: dict[str, Any] = {
        "files": len(fragments),
        "row_groups": sum(fragment.num_row_groups for fragment in fragments),
        "read": {kind: {"files": 0, "row_groups": 0, "in_files": 0} for kind in KINDS},
    }
    for query in queries:
        wanted = expression(query, table.schema)
        count = found["read"][query.kind]
        for fragment in fragments:
            touched = len(fragment.subset(wanted).row_groups)
            if touched:
                count["files"] += 1
                count["row_groups"] += touched
                count["in_files"] += fragment.num_row_groups
    return found


def as_markdown(about: dict[str, str], data: str, runs: dict[str, dict[str, Any]]) -> str:
    """The table: of each layout the share of files, of row groups, and of row groups in those files."""
    lines = [
        "# Row groups that queries must read",
        "",
        markdown.made_by("python -m benchmarks.quality.row_groups", about),
        f"Data set {data}, by {COLUMNS} columns, row groups of some {BLOCK >> 10} KiB; {4 * EACH} "
        "queries, a quarter of each kind. PyArrow finds from the statistics in the files which row "
        "groups a query must read.",
        "",
        "Each cell: files read, of all files / row groups read, of all row groups / row groups read, of "
        "those in the files read.",
        "",
        f"| layout | files, row groups | {' | '.join(KINDS)} |",
        "|---" * (len(KINDS) + 2) + "|",
    ]
    for layout, run in runs.items():
        cells = []
        for kind in KINDS:
            count = run["read"][kind]
            shares = (
                count["files"] / (EACH * run["files"]),
                count["row_groups"] / (EACH * run["row_groups"]),
                count["row_groups"] / max(1, count["in_files"]),
            )
            cells.append(" / ".join(f"{100 * share:.1f} %" for share in shares))
        lines.append(f"| {layout} | {run['files']}, {run['row_groups']} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run the benchmark and write its results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="lineitem", choices=datasets.NAMES)
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        rows = datasets.table(options.data, bench_data())
        datasets.write(rows, folder / "source")
        layouts = Layouts(spark, folder)
        layouts.set("parquet.block.size", str(BLOCK))
        queries = draw(rows, COLUMNS, seed=COLUMNS)
        runs = {}
        for layout in LAYOUTS:
            files = layouts.write(layout, COLUMNS, FILES)
            runs[layout] = read([str(layouts.table / file.path) for file in files], queries)
            print(layout, runs[layout], flush=True)
        about = machine() | {"pyarrow": pa.__version__}
    options.output.mkdir(parents=True, exist_ok=True)
    text = as_markdown(about, options.data, runs)
    markdown.write(options.output / "row_groups.md", text)
    (options.output / "row_groups.json").write_text(
        json.dumps({"about": about, "data": options.data, "runs": runs}, indent=1) + "\n"
    )
    print(text)


if __name__ == "__main__":
    main()
