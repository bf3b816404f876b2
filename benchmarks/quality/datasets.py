"""The tables of the benchmark: each has columns to cluster by, and is generated from a seed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from zcube.demo import data

ROWS = 60_000
FILES = 4

Columns = list[pa.Array]


def _uniform(rng: np.random.Generator, rows: int) -> Columns:
    return [pa.array(rng.integers(0, 2**31, rows)) for _ in range(4)]


def _zipf(rng: np.random.Generator, rows: int) -> Columns:
    # The most frequent value of the first column is on a quarter of the rows.
    return [pa.array(np.minimum(rng.zipf(a, rows), 100_000)) for a in (1.3, 1.2, 1.5, 1.15)]


def _correlated(rng: np.random.Generator, rows: int) -> Columns:
    first = rng.random(rows)
    return [
        pa.array(first),
        pa.array(first + rng.normal(0, 0.03, rows)),
        pa.array(-first + rng.normal(0, 0.1, rows)),
        pa.array(rng.random(rows)),
    ]


def _clusters(rng: np.random.Generator, rows: int) -> Columns:
    centres = rng.random((12, 4))
    points = centres[rng.integers(0, 12, rows)] + rng.normal(0, 0.03, (rows, 4))
    return [pa.array(points[:, c]) for c in range(4)]


def _strings(rng: np.random.Generator, rows: int) -> Columns:
    # Statistics hold the first 32 characters; 24 of these are the same in every row.
    def column(numbers: np.ndarray) -> pa.Array:
        return pa.array([f"tenant-0042/region-eu-1/{number:08d}" for number in numbers])

    return [
        column(rng.integers(0, 10**8, rows)),
        column(rng.geometric(0.001, rows)),
        column(rng.integers(0, 300, rows)),
        column(rng.integers(0, 10**8, rows)),
    ]


def _nulls(rng: np.random.Generator, rows: int) -> Columns:
    return [pa.array(rng.integers(0, 2**31, rows), mask=rng.random(rows) < 0.2) for _ in range(4)]


_SYNTHETIC: dict[str, Callable[[np.random.Generator, int], Columns]] = {
    "uniform": _uniform,
    "zipf": _zipf,
    "correlated": _correlated,
    "clusters": _clusters,
    "strings": _strings,
    "nulls": _nulls,
}

NAMES = (*_SYNTHETIC, "lineitem")


def _mixed(rng: np.random.Generator, rows: int) -> Columns:
    return [
        pa.array(rng.integers(0, 2**31, rows)),
        pa.array(rng.normal(0, 1, rows)),
        pa.array(np.minimum(rng.zipf(1.3, rows), 1000)),
        pa.array(rng.integers(0, 12, rows)),
        pa.array([f"k{number}" for number in rng.integers(0, 5000, rows)]),
        pa.array(rng.integers(0, 2**31, rows), mask=rng.random(rows) < 0.3),
        pa.array(rng.integers(0, 400, rows)),
        pa.array(rng.exponential(1, rows)),
    ]


def _dependent(rng: np.random.Generator, rows: int) -> Columns:
    # Each column is a function of the first, or nearly; the last is independent.
    key = rng.integers(0, 10**6, rows)
    return [
        pa.array(key),
        pa.array(key // 1000),
        pa.array(-key),
        pa.array([f"{number:07d}" for number in key + rng.integers(0, 50, rows)]),
        pa.array(np.sqrt(key)),
        pa.array(key % 7),
        pa.array(key // 100_000),
        pa.array(rng.random(rows)),
    ]


def _constant(rng: np.random.Generator, rows: int) -> Columns:
    whole = np.full(rows, 7)
    return [
        pa.array(whole),
        pa.array(rng.integers(0, 2**31, rows)),
        pa.array(["eu-central-1"] * rows),
        pa.array(rng.random(rows)),
        pa.array(whole, mask=rng.random(rows) < 0.5),
        pa.array(rng.integers(0, 1000, rows)),
        pa.array(whole * 0.5),
        pa.array(np.minimum(rng.zipf(1.4, rows), 1000)),
    ]


def _mostly_null(rng: np.random.Generator, rows: int) -> Columns:
    shares = (0.95, 0.9, 0.99, 0.8, 0.95, 0.9, 0.98, 0.7)
    return [
        pa.array(rng.integers(0, 2**31, rows), mask=rng.random(rows) < share) for share in shares
    ]


def _text(rng: np.random.Generator, rows: int) -> Columns:
    # The statistics' 32 characters say little about a URL, and nothing about the last column.
    def texts(made: Callable[[int], str]) -> pa.Array:
        return pa.array([made(number) for number in rng.integers(0, 2**40, rows).tolist()])

    return [
        texts(lambda n: f"{n:x}@example.org"),
        texts(lambda n: f"https://shop.example/item/{n % 50_000}/reviews"),
        texts(lambda n: "".join(chr(97 + n // 26**i % 26) for i in range(1 + n % 9))),
        texts(lambda n: f"Kunde Nr. {n:014d} aus Köln, Straße {n % 90}"),
        texts(lambda n: f"/var/log/app-{n % 40}/{n:x}.log"),
        texts(lambda n: f"{n % 10**9}"),
        texts(lambda n: chr(0x4E00 + n % 5000) + chr(0x1F600 + n % 60)),
        texts(lambda n: "https://a.very.long.host.example/and/a/path/" + str(n)),
    ]


def _uuids(rng: np.random.Generator, rows: int) -> Columns:
    return [pa.array([str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(rows)]) for _ in range(8)]


def _booleans(rng: np.random.Generator, rows: int) -> Columns:
    return [
        pa.array(rng.random(rows) < 0.5),
        pa.array(rng.integers(0, 2**31, rows)),
        pa.array(rng.random(rows) < 0.01),
        pa.array(rng.random(rows)),
        pa.array(rng.random(rows) < 0.3, mask=rng.random(rows) < 0.2),
        pa.array(rng.integers(0, 2**31, rows)),
        pa.array(rng.random(rows) < 0.5),
        pa.array(np.minimum(rng.zipf(1.4, rows), 1000)),
    ]


def _timestamps(rng: np.random.Generator, rows: int) -> Columns:
    # Events of three years in order of arrival: later ones more often, updated some time
    # afterwards.
    start, span = 1_672_531_200, 3 * 365 * 86_400
    happened = start + np.sort((np.sqrt(rng.random(rows)) * span).astype(np.int64))
    updated = happened + rng.exponential(86_400, rows).astype(np.int64)

    def times(seconds: np.ndarray, mask: np.ndarray | None = None) -> pa.Array:
        return pa.array(seconds * 1_000_000, pa.timestamp("us", "UTC"), mask=mask)

    return [
        times(happened),
        times(updated),
        pa.array((happened // 86_400).astype(np.int32), pa.date32()),
        times(start + rng.integers(0, span, rows)),
        pa.array(np.minimum(rng.zipf(1.3, rows), 10_000)),
        times(updated + 3600, rng.random(rows) < 0.4),
        times(happened - happened % 3600),
        pa.array(rng.integers(0, 2**31, rows)),
    ]


_MORE: dict[str, Callable[[np.random.Generator, int], Columns]] = {
    "mixed": _mixed,
    "nested": _mixed,
    "dependent": _dependent,
    "constant": _constant,
    "mostly null": _mostly_null,
    "text": _text,
    "uuid": _uuids,
    "boolean": _booleans,
    "timestamp": _timestamps,
}

EVERY = (*NAMES, *_MORE)
"""All data sets, each with eight columns to cluster by."""


def table(name: str, cache: Path) -> pa.Table:
    """The rows of a data set; the columns to cluster by are its first four, c0 to c3."""
    return wide(name, cache, ROWS).select(range(4))


def wide(name: str, cache: Path, count: int) -> pa.Table:
    """Rows of a data set with all of its eight columns, c0 to c7."""
    if name == "lineitem":
        source = data.lineitem(cache.resolve(), 0.01)
        dates_and_keys = ["l_shipdate", "l_partkey", "l_suppkey", "l_quantity"]
        others = ["l_orderkey", "l_extendedprice", "l_receiptdate", "l_shipmode"]
        rows = pq.read_table(source, columns=dates_and_keys + others)
        # tpchgen-cli's texts are views, which can't be taken from.
        mode = rows.schema.get_field_index("l_shipmode")
        rows = rows.set_column(mode, "l_shipmode", rows.column(mode).cast(pa.string()))
        if count < rows.num_rows:
            rows = rows.take(np.arange(0, rows.num_rows, -(-rows.num_rows // count)))
        return rows.rename_columns([f"c{c}" for c in range(8)])
    # The name's position in the list is its seed.
    seed = EVERY.index(name)
    if name in _MORE:
        columns = _MORE[name](np.random.default_rng(seed), count)
    else:
        # Four of a kind, and four more that are independent of them.
        seeds: tuple[int | list[int], ...] = (seed, [seed, 1])
        columns = [
            column
            for each in seeds
            for column in _SYNTHETIC[name](np.random.default_rng(each), count)
        ]
    return pa.table({f"c{c}": column for c, column in enumerate(columns)})


def stored(name: str, rows: pa.Table) -> tuple[pa.Table, list[str]]:
    """The rows in the table's form, and the columns' names there: ``nested`` has them in structs."""
    if name != "nested":
        return rows, list(rows.column_names)
    columns = {c: rows.column(c).combine_chunks() for c in rows.column_names}
    inner = ["c2", "c3", "c6", "c7"]
    deep = pa.StructArray.from_arrays([columns[c] for c in inner], inner)
    outer = [c for c in columns if c not in inner]
    whole = pa.StructArray.from_arrays([*(columns[c] for c in outer), deep], [*outer, "deep"])
    names = [f"s.deep.{c}" if c in inner else f"s.{c}" for c in columns]
    return pa.table({"s": whole}), names


def write(rows: pa.Table, folder: Path) -> None:
    """Write Parquet files, each with its share of the rows."""
    folder.mkdir(parents=True)
    share = -(-rows.num_rows // FILES)
    for number in range(FILES):
        pq.write_table(rows.slice(number * share, share), folder / f"{number}.parquet")
