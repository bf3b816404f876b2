"""The parts of benchmarks.queries that need no Spark."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.queries import bounds, report, selective, tpch, weblog
from benchmarks.queries.__main__ import in_turn
from benchmarks.queries.query import Comparison, filtered
from benchmarks.queries.results import with_earlier

DAYS = pa.table(
    {
        "day": [datetime.date(2026, 1, 1) + datetime.timedelta(n) for n in range(100)],
        "key": list(range(100)),
        "text": [f"t{n % 10}" for n in range(100)],
    }
)


@pytest.fixture
def source(tmp_path):
    for number in range(4):
        pq.write_table(
            DAYS.slice(25 * number, 25), tmp_path / f"{number}.parquet", row_group_size=5
        )
    return tmp_path


FEBRUARY = Comparison("day", "between", (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28)))


@pytest.mark.parametrize(
    ("where", "sql", "matching"),
    [
        ((FEBRUARY,), "day BETWEEN date '2026-02-01' AND date '2026-02-28'", 28),
        ((FEBRUARY, Comparison("key", ">=", 58)), None, 1),
        (
            (Comparison("text", "=", "t3"), Comparison("key", "<", 50)),
            "text = 't3' AND key < 50",
            5,
        ),
        ((Comparison("key", "in", (3, 98, 1000)),), "key IN (3, 98, 1000)", 2),
        ((Comparison("key", ">", 98),), "key > 98", 1),
    ],
)
def test_a_condition_is_the_same_in_sql_and_for_pyarrow(source, where, sql, matching):
    query = filtered("a", "days", "count(*)", where)
    if sql:
        assert query.sql == f"SELECT count(*) FROM days WHERE {sql}"
    assert bounds.matching(query, source) == (matching, 100)


def test_row_groups_are_counted_by_the_footers(source):
    groups = bounds.RowGroups([str(file) for file in source.iterdir()])
    assert groups.count == 20
    # Days 31 to 58: of the second file all groups but the first, of the third two.
    assert groups.read(filtered("a", "days", "count(*)", (FEBRUARY,))) == (2, 6)


def test_the_bound_is_rounded_up_to_whole_files():
    assert bounds.bound(0, 1000, 10) == 1
    assert bounds.bound(100, 1000, 10) == 1
    assert bounds.bound(101, 1000, 10) == 2
    assert bounds.bound(1000, 1000, 10) == 10
    assert bounds.grid(64, 2, 1) == pytest.approx(8)
    assert bounds.grid(64, 3, 1) == pytest.approx(16)
    assert bounds.times_bound([(4, 1), (18, 2)]) == pytest.approx(6)


def test_the_log_is_the_same_each_time_and_skewed():
    first, again = (weblog.part(3, 10, 20_000, 200_000) for _ in range(2))
    assert first.equals(again)
    assert not first.equals(weblog.part(4, 10, 20_000, 200_000))
    days = first["event_date"].to_numpy()
    assert days.min() >= np.datetime64("2026-01-26")
    assert days.max() <= np.datetime64("2026-02-07")
    sites = first["site_id"].value_counts().to_pylist()
    largest = max(site["counts"] for site in sites)
    assert largest > 0.1 * 20_000
    assert len(sites) > 300


def test_keys_grow_with_the_scale():
    small, large = selective.queries(0.01), selective.queries(1)
    assert [query.name for query in small] == [query.name for query in large]
    assert len(large) == 20
    assert "l_partkey = 1552 " in f"{small[2].sql} "
    assert "l_partkey = 155200 " in f"{large[2].sql} "
    fractions = {scale: tpch.queries(scale)[10].sql for scale in (1, 0.01)}
    assert "* 0.0001000000" in fractions[1]
    assert "* 0.0100000000" in fractions[0.01]


def test_the_page_has_the_ratios_and_where_others_are_better():
    layouts = report.layouts
    # Files read by two queries: of 10 files, 100 rows.
    read = {
        layouts.UNCLUSTERED: (10, 10),
        layouts.ZORDER: (5, 3),
        layouts.LIQUID: (5, 8),
        layouts.DEFAULT: (2, 8),
        layouts.WORKLOAD: (1, 4),
        # Measured by another program, which has no figure for the bytes.
        report.ICEBERG: (4, 9),
    }
    figures = {"bytes": 10, "rows": 50, "cpu": 0.5, "wall": 0.25}
    result = {
        "about": {"cpu": "some"},
        "tables": [{"table": t, "by": ["x"], "files": 10} for t in ("small", "large")],
        "sets": {"both": ["A", "B"]},
        "sql": {"A": "a", "B": "b"},
        "once": ["B"],
        "matches": [
            {"query": q, "table": "large", "matching": 5, "rows": 100, "compared": n}
            for n, q in enumerate(("A", "B"))
        ],
        "clustering": [
            {"table": t, "layout": x, "wall": 1, "cpu": 2.5, "files": 10, "bytes": 10}
            | {"row_groups": 80, "row_groups_read": {"A": 8, "B": 8}}
            for t in ("small", "large")
            for x in read
        ],
        "runs": [
            {"query": q, "layout": x, "files": files[n]}
            | {k: v for k, v in figures.items() if (x, k) != (report.ICEBERG, "bytes")}
            for x, files in read.items()
            for n, q in enumerate("AB")
        ],
    }
    page = report.as_page(result)
    worse = result | {"runs": [run | {"files": run["files"] + 1} for run in result["runs"]]}
    # All, those of the table, and those that compare one column, which is B.
    assert "| ZCube | 4.00 | 4.00 | 8.00 | ≤ 4 |" in page
    assert "| ZCube, workload | 2.00 | 2.00 | 4.00 | ≤ 2 |" in page
    assert "misses" not in page
    assert "misses its aim of 4" in report.as_page(worse)
    assert "- B: ZCube 8, Delta ZORDER BY 3\n" in page
    assert "- A:" not in page
    # Only A's, as B ran once.
    assert "| both | ZCube | 10 | 0 | 0.0 | 0.5 | 0.2 |" in page
    # The lines of the page are wrapped.
    assert "B read the same number of files of every layout" in page.replace("\n", " ")
    assert "| Iceberg zorder | 13 | 65.0 % | 10.0 % | – | 100.0 % | 0.5 | 0.2 |" in page
    assert "| ZCube | 10 | 50.0 % | 10.0 % | 100.0 % | 100.0 % | 0.5 | 0.2 |" in page
    assert report.Results(result).result == report.json.loads(report.as_json(result))


def test_each_layout_is_first_equally_often():
    layouts = ["a", "b", "c"]
    for number in range(2):
        orders = [in_turn(layouts, number, place) for place in range(6)]
        assert all(sorted(order) == layouts for order in orders)
        for at in range(3):
            assert sorted(order[at] for order in orders) == ["a", "a", "b", "b", "c", "c"]
    assert in_turn(layouts, 0, 1) == ["b", "c", "a"]
    assert in_turn(layouts, 1, 0) == ["a", "c", "b"]


def measured(about, sets, files):
    """A result of two queries at most, of one layout."""
    queries = [query for of in sets.values() for query in of]
    return {
        "about": {"scale": "1", "minutes": about},
        "tables": [{"table": "t", "by": ["x"], "files": 10}],
        "sets": sets,
        "sql": {query: query.lower() for query in queries},
        "once": queries[:1],
        "matches": [
            {"query": q, "table": "t", "matching": 5, "rows": 100, "compared": 1} for q in queries
        ],
        "clustering": [
            {
                "table": "t",
                "layout": "ZCube",
                "files": files,
                "row_groups_read": dict.fromkeys(queries, 8),
            }
        ],
        "runs": [{"query": q, "layout": "ZCube", "files": files} for q in queries],
    }


def test_sets_that_did_not_run_stay_on_record():
    before = measured("50", {"first": ["A"], "second": ["B"]}, files=5)
    before["once"] = ["A", "B"]
    now = measured("20", {"second": ["B", "C"]}, files=7)
    both = with_earlier(now, before)
    assert both["sets"] == {"first": ["A"], "second": ["B", "C"]}
    assert list(both["sql"]) == ["A", "B", "C"]
    assert {run["query"]: run["files"] for run in both["runs"]} == {"A": 5, "B": 7, "C": 7}
    assert both["about"]["minutes"] == "20"
    assert both["earlier"] == {"first": before["about"]}
    assert both["once"] == ["A", "B"]
    (clustering,) = both["clustering"]
    assert clustering["files"] == 7
    assert set(clustering["row_groups_read"]) == {"A", "B", "C"}
    # The other set is older than this record then.
    again = with_earlier(measured("30", {"second": ["B"]}, files=6), both)
    assert again["earlier"] == {"first": before["about"]}
    assert list(again["sql"]) == ["A", "B"]
    of_other_tables = before | {"tables": []}
    assert with_earlier(now, of_other_tables) == now
    assert with_earlier(before, now) == before
