"""The results as JSON, and docs/leaderboard.md."""

from __future__ import annotations

import json
from collections.abc import Callable

import mdformat

from benchmarks import markdown
from benchmarks.queries import layouts
from benchmarks.queries.bounds import SELECTIVE
from benchmarks.queries.other_spark import ICEBERG
from benchmarks.queries.results import Found, Results
from benchmarks.queries.tables import ROW_GROUPS

AIMS = {layouts.DEFAULT: 4.0, layouts.WORKLOAD: 2.0}
"""Times the bound, at most."""


def as_json(result: Found) -> str:
    """Everything, one run per line."""
    lists = ("matches", "clustering", "runs")
    parts = [f'"{key}": {json.dumps(value)}' for key, value in result.items() if key not in lists]
    for key in lists:
        lines = ",\n".join(json.dumps(entry) for entry in result[key])
        parts.append(f'"{key}": [\n{lines}\n]')
    return "{" + ",\n".join(parts) + "}\n"


def as_page(result: Found) -> str:
    """The page."""
    found = Results(result)
    about = result["about"]
    lines = [
        "# Leaderboard: what queries gain",
        "",
        f"Made by `make leaderboard` (`python -m benchmarks.queries`). {markdown.described(about)}.",
        *_earlier(result.get("earlier", {})),
        "",
        *_method(found),
        "",
        "## Selective queries",
        "",
        *_selective(found),
        "",
        "## How close to the minimum number of files",
        "",
        *_bounds(found),
        "",
        "## All queries",
        "",
        *_sets(found),
        "",
        "## What clustering costs",
        "",
        *_clustering(found),
        "",
        "## Where another layout reads fewer files",
        "",
        *_better(found),
        "",
        "## Each query",
        "",
        *_each(found),
    ]
    # As .mdformat.toml has it.
    options = {"wrap": 120, "number": True, "plugin": {"tables": {"compact_tables": True}}}
    text: str = mdformat.text("\n".join(lines) + "\n", extensions={"gfm"}, options=options)
    return text


def _earlier(sets: dict[str, Found]) -> list[str]:
    """A paragraph for each set of queries of an earlier run."""
    return [
        line
        for name, about in sets.items()
        for line in (
            "",
            f"The set *{name}* is of an earlier run (`--sets {name}`): {markdown.described(about)}.",
        )
    ]


def _method(found: Results) -> list[str]:
    tables = "; ".join(
        f"`{t['table']}` by {', '.join(f'`{c}`' for c in t['by'])} into about {t['files']} files"
        for t in found.result["tables"]
    )
    whole = f"{SELECTIVE:.0%}".replace("%", " %")
    return [
        "Three sets of queries, run by Spark on the same rows: TPC-H's 22 in the specification's words, 20 "
        "selective ones on its two large tables, and 30 of the kinds that ClickBench has on a generated "
        "web log (3 million hits at scale 1, in the order of arrival).",
        "",
        f"Clustered tables: {tables}. All layouts have the same columns and about the same number of files. "
        f"Files are small, so that there are many, and so are row groups: {ROW_GROUPS} to a file, like a "
        "1 GiB file with 128 MiB row groups. TPC-H's other tables are plain Parquet.",
        "",
        f"- **{layouts.UNCLUSTERED}**: as generated; `lineitem` and `orders` by order key, the log by time.",
        f"- **{layouts.ZORDER}**, **{layouts.LIQUID}**: by Delta's OPTIMIZE, without ZCube.",
        f"- **{layouts.DEFAULT}**: OPTIMIZE … ZORDER BY with default options, a k-d tree.",
        f"- **{layouts.WORKLOAD}**: the same with the predicates of all these queries as its workload. It knows "
        "the queries that are measured; the others don't.",
        f"- **{layouts.DELTA_RS}**: by the Python package `deltalake`, on a copy of the unclustered table; read by "
        f"the same Spark.{_uncompressed(found.result['about'])}",
        f"- **{ICEBERG}**: `rewrite_data_files` by Iceberg for Spark 4.1, read by that Spark in a JVM of its "
        "own. Its times are those of another Spark, and of one run after a first; its files and row groups "
        "compare. It interleaves the bits of "
        "the values themselves (`ZOrderByteUtils`), not of their ranks, so the column with the largest values is "
        "nearly all of the order: `hits` is in effect sorted by `user_id`, whose ids fill 63 bits. A query for "
        "users then reads a file or two, and any other nearly all files.",
        "",
        "Files are those that the scans read, bytes are theirs, rows are what the scans give to the rest of the "
        "query. Row groups are those that PyArrow can't rule out by the footers. CPU and wall seconds are "
        "medians of the rounds, with the layouts alternating in one JVM; CPU seconds are the whole JVM's. "
        f"{_turns(found.result['about'])}Every layout gave the same result for every query. "
        f"{_once(found.result['once'])}"
        f"*Selective* is a query of which at most {whole} of the rows match.",
    ]


def _uncompressed(about: Found) -> str:
    """A remark on records of the time when delta-rs was given no compression."""
    if "delta-rs" not in about or "delta-rs files" in about:
        return ""
    return (
        " On record are files without compression, which the benchmark didn't ask for; it does now. So there "
        "are more of them, and more bytes, than there need be: these figures are too bad for delta-rs."
    )


def _turns(about: Found) -> str:
    if "warm-up rounds" in about:
        return "A first round isn't counted. Each layout is first equally often. "
    return (
        "These rounds include the JVM's first one, and ZCube's layouts were first in none of them; from the "
        "next run on a first round isn't counted, and each layout is first equally often. "
    )


def _once(queries: list[str]) -> str:
    if not queries:
        return ""
    return (
        f"{', '.join(queries)} read the same number of files of every layout: they ran once, and no time "
        "includes them. "
    )


def _selective(found: Results) -> list[str]:
    queries = found.selective
    base = {figure: found.sum(queries, layouts.UNCLUSTERED, figure) for figure in ("bytes", "rows")}
    rows = []
    for layout in found.layouts:
        if not found.has(queries, layout):
            continue
        all_files = sum(found.clustering[found.table(query), layout]["files"] for query in queries)
        groups, all_groups = found.row_groups(queries, layout)
        files = found.sum(queries, layout, "files")
        has_bytes = all("bytes" in found.runs[query, layout] for query in queries)
        rows.append(
            [
                layout,
                f"{files:.0f}",
                _share(files, all_files),
                _share(groups, all_groups),
                _share(found.sum(queries, layout, "bytes"), base["bytes"]) if has_bytes else "–",
                _share(found.sum(queries, layout, "rows"), base["rows"]),
                f"{found.time(queries, layout, 'cpu'):.1f}",
                f"{found.time(queries, layout, 'wall'):.1f}",
            ]
        )
    return [
        f"Sums over {len(queries)} selective queries. Bytes and rows are those of the unclustered tables = 100 %.",
        "",
        *_table(
            ["layout", "files read", "of all", "row groups", "bytes", "rows", "CPU s", "wall s"],
            rows,
        ),
    ]


def _bounds(found: Results) -> list[str]:
    tables = list(dict.fromkeys(found.table(query) for query in found.selective))
    most = max(len(table["by"]) for table in found.result["tables"])
    groups = [found.selective]
    groups += [[q for q in found.selective if found.table(q) == table] for table in tables]
    groups += [
        [q for q in found.selective if found.matches[q]["compared"] == number]
        for number in range(1, most + 1)
    ]
    head = ["all", *(f"`{table}`" for table in tables), *map(str, range(1, most + 1))]
    kept = [number for number, group in enumerate(groups) if group]
    rows = []
    for layout in found.layouts:
        if found.has(found.selective, layout):
            cells = [f"{found.times_bound(groups[n], layout):.2f}" for n in kept]
            aim = f"≤ {AIMS[layout]:g}" if layout in AIMS else ""
            rows.append([layout, *cells, aim])
    rows.append(["*an even grid*", *(f"{found.grid(groups[n]):.2f}" for n in kept), ""])
    missed = [
        f"{layout} misses its aim of {aim:g}"
        for layout, aim in AIMS.items()
        if found.times_bound(found.selective, layout) > aim
    ]
    return [
        "At best, a query reads as many files as its rows would fill: rows that match ÷ rows of a file, rounded "
        "up. Files read ÷ that bound, geometric means over the selective queries, then those of each table, "
        "and those that compare 1, 2 or 3 of the clustering columns:",
        "",
        *_table(["layout", *(head[n] for n in kept), "aim"], rows),
        "",
        *([f"**{'; '.join(missed)}.**", ""] if missed else []),
        "The last line is calculated. With equally many slices in each column, a query for one value of each of *k* of "
        "*d* columns reads *files*^(1 − *k*/*d*) files. A layout that doesn't know the queries can read fewer for "
        "one column only at the cost of the others. Knowing them, it can cut where they ask; but two queries for "
        "single values of different columns still cross: each file-wide slice of one column divides those of the "
        "others.",
    ]


def _sets(found: Results) -> list[str]:
    rows = []
    for name, queries in found.result["sets"].items():
        for layout in layouts.BY_SPARK:
            figures = [found.sum(queries, layout, f) for f in ("files", "bytes", "rows")]
            rows.append(
                [
                    name,
                    layout,
                    f"{figures[0]:.0f}",
                    f"{figures[1] / 1e6:.0f}",
                    f"{figures[2] / 1e6:.1f}",
                    f"{found.time(queries, layout, 'cpu'):.1f}",
                    f"{found.time(queries, layout, 'wall'):.1f}",
                ]
            )
    head = ["queries", "layout", "files read", "MB", "million rows", "CPU s", "wall s"]
    return [
        "Sums over each set; files, bytes and rows of the clustered tables. Most of TPC-H's 22 and eight of the web "
        "log's 30 read a table whole, whatever its layout.",
        "",
        *_table(head, rows),
    ]


def _clustering(found: Results) -> list[str]:
    tables = [str(table["table"]) for table in found.result["tables"]]
    rows = []
    for layout in found.layouts:
        of = [found.clustering[table, layout] for table in tables]
        cells = [] if layout == layouts.UNCLUSTERED else [f"{c['cpu']:.1f}" for c in of[1:]]
        rows.append([layout, *(cells or ["–"] * (len(of) - 1)), *(f"{c['files']}" for c in of)])
    return [
        "CPU seconds of the statement that clusters the table, one run each, after one of the smallest table; "
        "[benchmarks](benchmarks.md) has more careful ones. delta-rs has no JVM. Then the files of each table.",
        "",
        *_table(
            ["layout", *(f"`{t}` CPU s" for t in tables[1:]), *(f"`{t}` files" for t in tables)],
            rows,
        ),
    ]


def _better(found: Results) -> list[str]:
    lines = []
    ours = layouts.DEFAULT
    for query in found.result["sql"]:
        read = found.runs[query, ours]["files"]
        others = {
            layout: found.runs[query, layout]["files"]
            for layout in found.layouts
            if layout not in (ours, layouts.WORKLOAD)
            and (query, layout) in found.runs
            and found.runs[query, layout]["files"] < read
        }
        if others:
            named = ", ".join(f"{layout} {files}" for layout, files in others.items())
            lines.append(f"- {query}: {ours} {read}, {named}")
    return lines or ["Nowhere."]


def _each(found: Results) -> list[str]:
    def row(query: str, figure: Callable[[Found], str]) -> list[str]:
        return [
            figure(found.runs[query, layout]) if (query, layout) in found.runs else "–"
            for layout in found.layouts
        ]

    names = list(found.result["sql"])
    files = []
    for query in names:
        match = found.matches.get(query)
        share = f"{100 * match['matching'] / match['rows']:.3f} %" if match else "–"
        least = str(found.bound(query, layouts.DEFAULT)) if match else "–"
        files.append([query, share, least, *row(query, lambda run: str(run["files"]))])
    return [
        "Files read. The queries' SQL is in `benchmarks/queries`, and in `benchmarks/results/queries.json` with all "
        "figures.",
        "",
        *_table(["query", "rows that match", "bound", *found.layouts], files),
        "",
        "CPU seconds.",
        "",
        *_table(
            ["query", *found.layouts],
            [[query, *row(query, lambda run: f"{run['cpu']:.2f}")] for query in names],
        ),
    ]


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]
