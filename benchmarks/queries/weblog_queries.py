"""Thirty queries on the web log, of the kinds that ClickBench has: whole-table reports, then filters."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.queries.query import Comparison as Is
from benchmarks.queries.query import Query, filtered
from benchmarks.queries.weblog import site_ids

_VISITS = "count(*) AS hits, count(DISTINCT user_id) AS users"

_WHOLE = (
    "SELECT sum(bytes_sent) AS sent, avg(response_ms) AS response, count(*) AS hits FROM hits",
    "SELECT count(DISTINCT user_id) AS users FROM hits",
    f"SELECT region_id, {_VISITS} FROM hits GROUP BY region_id ORDER BY users DESC, region_id LIMIT 10",
    "SELECT search_phrase, count(*) AS hits FROM hits WHERE search_phrase IS NOT NULL "
    "GROUP BY search_phrase ORDER BY hits DESC, search_phrase LIMIT 10",
    "SELECT system, browser, count(*) AS hits FROM hits GROUP BY system, browser "
    "ORDER BY hits DESC, system, browser LIMIT 20",
    "SELECT site_id, count(*) AS hits FROM hits WHERE url LIKE '%/shop/%hotel%' "
    "GROUP BY site_id ORDER BY hits DESC, site_id LIMIT 10",
    "SELECT hour(event_time) AS part, count(*) AS hits FROM hits GROUP BY hour(event_time) ORDER BY part",
    "SELECT site_id, avg(response_ms) AS response, count(*) AS hits FROM hits GROUP BY site_id "
    "HAVING count(*) > 500 ORDER BY response DESC, site_id LIMIT 10",
)


def queries(source: Path) -> list[Query]:
    """The queries; some constants are those of a row, so that no result is empty.

    Args:
        source: the folder of the log's Parquet files.
    """
    files = sorted(source.glob("*.parquet"))
    rows = [_row(files[len(files) * share // 8]) for share in (2, 3, 5, 6, 7)]
    users = tuple(dict.fromkeys(row["user_id"] for row in rows))
    visited = rows[1]
    at = visited["event_time"].replace(tzinfo=None)
    sites = [int(site) for site in site_ids()]
    whole = [Query(f"W{number}", sql) for number, sql in enumerate(_WHOLE, 1)]
    # Each: what is returned, the condition, what follows.
    filters: list[tuple[str, tuple[Is, ...], str]] = [
        (
            f"event_date, {_VISITS}",
            (Is("site_id", "=", sites[20]), _days(date(2026, 2, 1), 28)),
            "GROUP BY event_date ORDER BY event_date",
        ),
        (
            "url, count(*) AS hits",
            (Is("site_id", "=", sites[1]), _days(date(2026, 2, 9), 7)),
            "GROUP BY url ORDER BY hits DESC, url LIMIT 10",
        ),
        (
            "url, count(*) AS hits",
            (Is("site_id", "=", sites[300]),),
            "GROUP BY url ORDER BY hits DESC, url LIMIT 10",
        ),
        (
            "referrer, count(*) AS hits",
            (Is("site_id", "=", sites[8]), _days(date(2026, 3, 17), 1)),
            "GROUP BY referrer ORDER BY hits DESC, referrer LIMIT 10",
        ),
        (
            f"traffic_source, {_VISITS}",
            (Is("site_id", "=", sites[45]), _days(date(2026, 1, 1), 31)),
            "GROUP BY traffic_source ORDER BY traffic_source",
        ),
        (
            "hour(event_time) AS part, count(*) AS hits",
            (Is("site_id", "=", sites[0]), _days(date(2026, 3, 2), 1)),
            "GROUP BY hour(event_time) ORDER BY part",
        ),
        (
            "url, count(*) AS hits",
            (
                Is("site_id", "=", sites[3]),
                _days(date(2026, 1, 19), 7),
                Is("status_code", "=", 404),
            ),
            "GROUP BY url ORDER BY hits DESC, url LIMIT 10",
        ),
        (
            f"site_id, {_VISITS}",
            (
                Is("site_id", "in", tuple(sites[rank] for rank in (5, 30, 70, 120, 250))),
                _days(date(2026, 2, 23), 7),
            ),
            "GROUP BY site_id ORDER BY site_id",
        ),
        (
            f"is_mobile, {_VISITS}",
            (Is("site_id", "between", (101, 120)), _days(date(2026, 3, 7), 2)),
            "GROUP BY is_mobile ORDER BY is_mobile",
        ),
        (
            "site_id, count(*) AS errors",
            (_times(datetime(2026, 3, 30, 20), hours=1), Is("status_code", "=", 500)),
            "GROUP BY site_id ORDER BY errors DESC, site_id LIMIT 10",
        ),
        (
            f"region_id, {_VISITS}",
            (_times(datetime(2026, 2, 12, 18), hours=1),),
            "GROUP BY region_id ORDER BY hits DESC, region_id LIMIT 10",
        ),
        (
            "search_phrase, count(*) AS hits",
            (_days(date(2026, 1, 28), 1),),
            "GROUP BY search_phrase ORDER BY hits DESC, search_phrase LIMIT 10",
        ),
        (
            "event_time, site_id, url",
            (Is("user_id", "=", users[0]),),
            "ORDER BY event_time DESC, site_id, url LIMIT 20",
        ),
        (
            "count(*) AS hits, min(event_time) AS first, max(event_time) AS last",
            (Is("user_id", "=", visited["user_id"]), _around(at, timedelta(days=3))),
            "",
        ),
        (
            "event_date, count(*) AS hits",
            (Is("user_id", "=", visited["user_id"]), Is("site_id", "=", visited["site_id"])),
            "GROUP BY event_date ORDER BY event_date",
        ),
        (
            "user_id, count(*) AS hits, sum(bytes_sent) AS sent",
            (Is("user_id", "in", users),),
            "GROUP BY user_id ORDER BY user_id",
        ),
        (
            "event_time, url, status_code",
            (Is("user_id", "=", visited["user_id"]), _around(at, timedelta(hours=2))),
            "ORDER BY event_time, url, status_code",
        ),
        (
            "screen_width, count(*) AS hits",
            (
                Is("site_id", "=", sites[12]),
                _days(date(2026, 3, 1), 31),
                Is("region_id", "=", 2),
            ),
            "GROUP BY screen_width ORDER BY screen_width",
        ),
        (
            f"system, {_VISITS}",
            (
                Is("site_id", "=", sites[60]),
                Is("region_id", "in", (1, 3, 5)),
                _days(date(2026, 1, 12), 14),
            ),
            "GROUP BY system ORDER BY system",
        ),
        (
            "campaign, count(*) AS hits",
            (Is("site_id", "=", sites[150]), _days(date(2026, 2, 1), 10)),
            "GROUP BY campaign ORDER BY hits DESC, campaign LIMIT 10",
        ),
        (
            "minute(event_time) AS part, count(*) AS hits",
            (Is("site_id", "=", sites[2]), _times(datetime(2026, 1, 22, 19), minutes=10)),
            "GROUP BY minute(event_time) ORDER BY part",
        ),
        (
            "url, max(response_ms) AS response",
            (Is("site_id", "=", sites[90]), Is("response_ms", ">", 1000)),
            "GROUP BY url ORDER BY response DESC, url LIMIT 10",
        ),
    ]
    return whole + [
        filtered(f"W{number}", "hits", *query)
        for number, query in enumerate(filters, len(whole) + 1)
    ]


def _row(file: Path) -> dict[str, Any]:
    """The row in the middle of a file."""
    rows = pq.read_table(file, columns=["event_time", "site_id", "user_id"])
    return rows.slice(rows.num_rows // 2, 1).to_pylist()[0]


def _times(start: datetime, **length: int) -> Is:
    # Times are whole seconds.
    return Is("event_time", "between", (start, start + timedelta(**length) - timedelta(seconds=1)))


def _days(first: date, days: int) -> Is:
    return _times(datetime(first.year, first.month, first.day), days=days)


def _around(at: datetime, margin: timedelta) -> Is:
    return Is("event_time", "between", (at - margin, at + margin))
