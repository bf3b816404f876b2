"""The tables: TPC-H's, of which lineitem and orders are clustered, and the web log."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.queries import selective, tpch, weblog, weblog_queries
from benchmarks.queries.query import Query

ROW_GROUPS = 8
"""Row groups of a file: as many as Delta's 1 GiB has of Parquet's 128 MiB."""

PLAIN = ("customer", "nation", "part", "partsupp", "region", "supplier")
"""TPC-H's other tables stay Parquet, the same for all layouts."""


@dataclass(frozen=True)
class Table:
    """A table that each layout has its own copy of.

    Attributes:
        name: in the queries.
        by: the columns that it is clustered by.
        files: about how many; the unclustered table has exactly as many.
        source: a folder with as many Parquet files.
    """

    name: str
    by: tuple[str, ...]
    files: int
    source: Path


def clustered(cache: Path, scale: float) -> list[Table]:
    """The three tables, their data generated once for each scale factor; the smallest first."""
    files = {"orders": 64, "lineitem": 120}
    folders = {name: generated(cache, scale, (name,), parts) for name, parts in files.items()}
    return [
        Table(
            "orders",
            ("o_orderdate", "o_custkey"),
            files["orders"],
            folders["orders"] / "orders",
        ),
        Table(
            "lineitem",
            ("l_shipdate", "l_partkey", "l_suppkey"),
            files["lineitem"],
            folders["lineitem"] / "lineitem",
        ),
        Table("hits", ("site_id", "event_time", "user_id"), 100, weblog.write(cache, scale, 100)),
    ]


def plain(cache: Path, scale: float) -> dict[str, Path]:
    """TPC-H's other tables: their Parquet files."""
    folder = generated(cache, scale, PLAIN)
    return {name: folder / f"{name}.parquet" for name in PLAIN}


def queries(tables: list[Table], scale: float) -> dict[str, list[Query]]:
    """The three sets of queries."""
    hits = next(table for table in tables if table.name == "hits")
    return {
        "TPC-H": tpch.queries(scale),
        "selective on TPC-H": selective.queries(scale),
        "web log": weblog_queries.queries(hits.source),
    }


def generated(cache: Path, scale: float, names: tuple[str, ...], parts: int | None = None) -> Path:
    """TPC-H tables, by tpchgen-cli unless they are there: each a file, or a folder of ``parts`` files."""
    kind = f"{names[0]}-{parts}" if parts else "others"
    done = cache / f"tpch-{kind}-sf{scale:g}"
    if done.is_dir():
        return done
    partial = cache / f"{done.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    command = [str(Path(sys.executable).parent / "tpchgen-cli"), "parquet", "--quiet"]
    command += ["-s", f"{scale:g}", f"--tables={','.join(names)}", f"--output-dir={partial}"]
    command += [f"--parts={parts}"] if parts else []
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    partial.rename(done)
    return done
