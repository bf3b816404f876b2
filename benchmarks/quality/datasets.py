"""The tables of the benchmark: each has four columns to cluster by, and is made from a seed."""

from __future__ import annotations

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


def table(name: str, cache: Path) -> pa.Table:
    """The rows of a data set; the columns to cluster by are its first four, c0 to c3."""
    if name == "lineitem":
        source = data.lineitem(cache.resolve(), 0.01)
        columns = ["l_shipdate", "l_partkey", "l_suppkey", "l_quantity"]
        rows = pq.read_table(source, columns=columns)
        return rows.rename_columns([f"c{c}" for c in range(4)])
    # The name's place in the list is its seed.
    rng = np.random.default_rng(NAMES.index(name))
    return pa.table({f"c{c}": column for c, column in enumerate(_SYNTHETIC[name](rng, ROWS))})


def write(rows: pa.Table, folder: Path) -> None:
    """Write Parquet files, each with its share of the rows."""
    folder.mkdir(parents=True)
    share = -(-rows.num_rows // FILES)
    for number in range(FILES):
        pq.write_table(rows.slice(number * share, share), folder / f"{number}.parquet")
