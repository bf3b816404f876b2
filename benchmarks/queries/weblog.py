"""A web log with the skew of real ones: hits on some sites by users, in the order of arrival.

Sites, pages, users, regions and search phrases follow power laws; users mostly visit a site of
their own and live in one region; traffic has a rhythm of day and week. Every file has a seed of its
own, so that the table is the same on each machine.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 3_000_000
"""At scale factor 1."""
SITES = 500
PAGES = 4_000
REGIONS = 200
PHRASES = 5_000
DAYS = 90
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)

_WORDS = (
    "red",
    "blue",
    "cheap",
    "new",
    "best",
    "hotel",
    "flight",
    "shoe",
    "phone",
    "lamp",
    "garden",
    "news",
    "weather",
    "recipe",
    "map",
)
_SECTIONS = ("news", "shop", "blog", "help", "account", "search", "item", "video", "forum")
_SYSTEMS = ("Android", "Windows", "iOS", "macOS", "Linux", "ChromeOS")
_BROWSERS = ("Chrome", "Safari", "Firefox", "Edge", "Samsung Internet", "Opera", "Other")
_SOURCES = ("direct", "search", "internal", "social", "ad", "mail")
_SEED = 17


def write(folder: Path, scale: float, files: int) -> Path:
    """Write the log as Parquet files, once for each scale factor; returns their folder."""
    done = folder / f"weblog-sf{scale:g}-{files}"
    if done.is_dir():
        return done
    partial = folder / f"{done.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    rows = round(ROWS * scale)
    for number in range(files):
        share = rows * (number + 1) // files - rows * number // files
        pq.write_table(part(number, files, share, rows), partial / f"{number:04d}.parquet")
    partial.rename(done)
    return done


def part(number: int, files: int, count: int, rows: int) -> pa.Table:
    """The rows of one file.

    Args:
        number: of the file, from 0.
        files: how many there are; each covers its share of the time.
        count: rows of this file.
        rows: of the whole log, which has a tenth as many users.
    """
    rng = np.random.default_rng([_SEED, number])
    users = max(100, rows // 10)
    user = _power(rng, users, 0.7, count)
    own = np.random.default_rng([_SEED, files + 1])
    home, region = _power(own, SITES, 1.05, users), _power(own, REGIONS, 1.2, users)
    system, browser = (
        _power(own, len(_SYSTEMS), 1.3, users),
        _power(own, len(_BROWSERS), 1.6, users),
    )
    site = np.where(rng.random(count) < 0.7, home[user], _power(rng, SITES, 1.05, count))
    seconds = _times(rng, number, files, count)
    page = (_power(rng, PAGES, 1.1, count) + 37 * site) % PAGES
    searched = rng.random(count) < 0.08
    phrase = pa.array(_power(rng, PHRASES, 0.9, count), mask=~searched)
    mobile = system[user] % 2 == 0
    source = _power(rng, len(_SOURCES), 1.0, count)
    hosts, paths, phrases = _hosts(), _paths(), _phrases()
    start = int(FIRST_DAY.timestamp())
    return pa.table(
        {
            "event_time": pa.array((start + seconds) * 1_000_000, pa.timestamp("us", "UTC")),
            "event_date": pa.array((start + seconds) // 86_400, pa.int64())
            .cast(pa.int32())
            .cast(pa.date32()),
            "site_id": pa.array(site_ids()[site]),
            "user_id": pa.array(user_ids(users)[user]),
            "session_id": pa.array(_mixed(user * 1000 + seconds // 7200)),
            "url": _urls(rng, hosts.take(site), paths.take(page)),
            "referrer": _referrers(source, hosts.take(site), paths.take(_next(page))),
            "title": phrases.take(page % PHRASES),
            "search_phrase": phrases.take(phrase),
            "traffic_source": pa.array(_SOURCES).take(source),
            "campaign": _campaigns(rng, source == 4),
            "region_id": pa.array(1 + region[user], pa.int32()),
            "system": pa.array(_SYSTEMS).take(system[user]),
            "browser": pa.array(_BROWSERS).take(browser[user]),
            "is_mobile": pa.array(mobile),
            "screen_width": pa.array(
                np.where(mobile, 360 + 30 * (user % 4), 1280 + 320 * (user % 5)).astype(np.int32)
            ),
            "status_code": pa.array(
                rng.choice(
                    np.array([200, 404, 301, 500], np.int32), count, p=[0.95, 0.03, 0.01, 0.01]
                )
            ),
            "response_ms": pa.array(
                np.minimum(rng.lognormal(4.5, 0.9, count), 60_000).astype(np.int32)
            ),
            "bytes_sent": pa.array((2000 * rng.pareto(1.5, count) + 500).astype(np.int64)),
        }
    )


def user_ids(users: int) -> np.ndarray:
    """The ids of users, the most active ones first: spread over all 63 bits."""
    return _mixed(np.arange(users))


def site_ids() -> np.ndarray:
    """The ids of sites, the most visited first: small numbers, in no order."""
    return np.random.default_rng(_SEED).permutation(SITES).astype(np.int32) + 1


def _power(rng: np.random.Generator, values: int, exponent: float, count: int) -> np.ndarray:
    """Numbers below ``values``, the n-th as often as n to the negative power."""
    weights = np.cumsum(1.0 / np.arange(1, values + 1) ** exponent)
    return np.searchsorted(weights, rng.random(count) * weights[-1]).astype(np.int64)


def _times(rng: np.random.Generator, number: int, files: int, count: int) -> np.ndarray:
    """Seconds since the first day, nearly in order: some hits arrive up to a minute late."""
    # Twice as many hits in the evening as at night, fewer on weekends.
    hours = np.arange(DAYS * 24)
    weights = 1.5 - 0.5 * np.cos((hours % 24 - 3) / 24 * 2 * np.pi)
    weights *= np.where(hours // 24 % 7 < 5, 1.0, 0.7)
    ends = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])
    at = np.sort((number + rng.random(count)) / files)
    seconds = np.interp(at, ends, np.arange(DAYS * 24 + 1) * 3600.0)
    late = rng.exponential(10, count).clip(0, 60)
    return np.maximum(0, seconds - late).astype(np.int64)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """A 63-bit number for each: equal ones for equal ones, in no order."""
    mixed = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)


def _next(page: np.ndarray) -> np.ndarray:
    return (page * 7 + 3) % PAGES


def _hosts() -> pa.Array:
    return pa.array([f"https://www.site-{n:03d}.example" for n in range(SITES)])


def _paths() -> pa.Array:
    words, sections = len(_WORDS), len(_SECTIONS)
    return pa.array(
        [
            f"/{_SECTIONS[n % sections]}/{_WORDS[n % words]}-{_WORDS[n // words % words]}/{n:05d}.html"
            for n in range(PAGES)
        ]
    )


def _phrases() -> pa.Array:
    words = len(_WORDS)
    return pa.array(
        [
            " ".join(_WORDS[n // words**k % words] for k in range(1 + n % 4)) + f" {n % 97}"
            for n in range(PHRASES)
        ]
    )


def _urls(rng: np.random.Generator, hosts: pa.Array, paths: pa.Array) -> pa.Array:
    """Hosts and paths; three in ten have parameters, which hardly two share."""
    count = len(hosts)
    numbers = pa.array(rng.integers(0, 10**9, count)).cast(pa.string())
    parameters = pc.binary_join_element_wise("?ref=", numbers, "&v=2", "")
    parameters = pc.if_else(pa.array(rng.random(count) < 0.3), parameters, "")
    return pc.binary_join_element_wise(hosts, paths, parameters, "")


def _referrers(source: np.ndarray, hosts: pa.Array, paths: pa.Array) -> pa.Array:
    internal = pc.binary_join_element_wise(hosts, paths, "")
    outside = pa.array(["", "https://find.example/", "", "https://social.example/", "", ""]).take(
        source
    )
    return pc.if_else(pa.array(source == 2), internal, outside)


def _campaigns(rng: np.random.Generator, paid: np.ndarray) -> pa.Array:
    numbers = pa.array(rng.integers(0, 40, len(paid)), mask=~paid)
    return pc.binary_join_element_wise("spring-", numbers.cast(pa.string()), "")
