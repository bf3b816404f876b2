"""Results by query and layout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.queries import layouts
from benchmarks.queries.bounds import SELECTIVE, bound, grid, times_bound
from benchmarks.queries.other_spark import ICEBERG

Found = dict[str, Any]

EVERY = (*layouts.LAYOUTS, ICEBERG)


def with_earlier(result: Found, before: Found) -> Found:
    """Results, with those on record of sets of queries that did not run now.

    They are dropped if they are of other tables.
    """
    sets = {name: of for name, of in before["sets"].items() if name not in result["sets"]}
    is_same = result["tables"] == before["tables"]
    if not (sets and is_same and result["about"]["scale"] == before["about"]["scale"]):
        return result
    queries = {query for of in sets.values() for query in of}
    # In the order of the record.
    sql = {
        query: text
        for query, text in (before["sql"] | result["sql"]).items()
        if query in queries or query in result["sql"]
    }
    once = {*result["once"], *(query for query in before["once"] if query in queries)}
    both = {
        **result,
        "sets": before["sets"] | result["sets"],
        "sql": sql,
        "once": [query for query in sql if query in once],
        "earlier": {name: before.get("earlier", {}).get(name, before["about"]) for name in sets},
        "clustering": _clustering(result["clustering"], before["clustering"]),
    }
    for part in ("runs", "matches"):
        both[part] = result[part] + [of for of in before[part] if of["query"] in queries]
    return both


def _clustering(now: list[Found], before: list[Found]) -> list[Found]:
    """Of each table and layout the newest, with the row groups that all queries read."""
    earlier = {(c["table"], c["layout"]): c for c in before}
    newer = {(c["table"], c["layout"]): c for c in now}
    return [
        {**of, "row_groups_read": earlier.get(key, of)["row_groups_read"] | of["row_groups_read"]}
        for key, of in (earlier | newer).items()
    ]


class Results:
    """What was measured, and what follows from it."""

    def __init__(self, result: Found) -> None:
        self.result = result
        self.runs = {(run["query"], run["layout"]): run for run in result["runs"]}
        self.clustering = {(c["table"], c["layout"]): c for c in result["clustering"]}
        self.matches = {match["query"]: match for match in result["matches"]}
        present = {layout for _, layout in self.runs}
        self.layouts = [layout for layout in EVERY if layout in present]
        self.selective = [
            name
            for name, match in self.matches.items()
            if match["matching"] <= SELECTIVE * match["rows"]
        ]

    def table(self, query: str) -> str:
        """The only table of a query."""
        return str(self.matches[query]["table"])

    def bound(self, query: str, layout: str) -> int:
        """The fewest files that could hold the matching rows."""
        match = self.matches[query]
        files = self.clustering[match["table"], layout]["files"]
        return bound(match["matching"], match["rows"], files)

    def times_bound(self, queries: Iterable[str], layout: str) -> float:
        """Files read ÷ bound, over queries."""
        return times_bound(
            (self.runs[query, layout]["files"], self.bound(query, layout)) for query in queries
        )

    def grid(self, queries: Iterable[str]) -> float:
        """What an even grid would read ÷ bound, over queries."""
        by = {str(table["table"]): table for table in self.result["tables"]}
        return times_bound(
            (
                grid(
                    by[self.table(q)]["files"],
                    len(by[self.table(q)]["by"]),
                    self.matches[q]["compared"],
                ),
                self.bound(q, layouts.DEFAULT),
            )
            for q in queries
        )

    def sum(self, queries: Iterable[str], layout: str, figure: str) -> float:
        """A figure's sum over queries."""
        return float(sum(self.runs[query, layout][figure] for query in queries))

    def time(self, queries: Iterable[str], layout: str, figure: str) -> float:
        """The same of seconds, without queries that ran only once."""
        return self.sum((q for q in queries if q not in self.result["once"]), layout, figure)

    def has(self, queries: Iterable[str], layout: str) -> bool:
        """Whether the layout ran all of these queries."""
        return all((query, layout) in self.runs for query in queries)

    def row_groups(self, queries: Iterable[str], layout: str) -> tuple[int, int]:
        """Row groups that selective queries read, and all that there are, summed over queries."""
        of = [(query, self.clustering[self.table(query), layout]) for query in queries]
        return (
            sum(table["row_groups_read"][query] for query, table in of),
            sum(table["row_groups"] for _, table in of),
        )
