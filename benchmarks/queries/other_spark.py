"""Starts the program that measures Iceberg, in an environment with its Spark line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.queries.query import Query
from benchmarks.queries.tables import ROW_GROUPS, Table

ICEBERG = "Iceberg zorder"


@contextmanager
def iceberg(
    python: Path,
    folder: Path,
    settings: Mapping[str, str | int],
    tables: list[Table],
    queries: list[Query],
) -> Iterator[dict[str, Any]]:
    """Cluster the tables by Iceberg and run queries on them; its files are there meanwhile.

    Args:
        python: of an environment with PySpark 4.1.
        folder: for the tables.
        settings: of Spark.
        tables: the tables.
        queries: each of a single table; each runs twice, and the second run counts.
    """
    task = {
        "folder": str(folder),
        "settings": {key: str(value) for key, value in settings.items()},
        "tables": [
            {
                "name": table.name,
                "by": table.by,
                "files": table.files,
                "source": str(table.source),
                "row_group": size(table) // table.files // ROW_GROUPS,
            }
            for table in tables
        ],
        "queries": {query.name: query.sql for query in queries},
    }
    sent, result = folder / "iceberg-task.json", folder / "iceberg-result.json"
    sent.write_text(json.dumps(task))
    # Run where `benchmarks` is found, with nothing of this environment's Spark.
    process = subprocess.Popen(
        [str(python), "-m", "benchmarks.queries.iceberg", str(sent), str(result)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.strip() == "done":
                break
        else:
            raise RuntimeError(f"the program that measures Iceberg failed: {process.wait()}")
        yield json.loads(result.read_text())
    finally:
        process.stdin.close()
        process.wait()


def size(table: Table) -> int:
    """Bytes of a table's source."""
    return sum(file.stat().st_size for file in table.source.iterdir())
