"""Delta tables that consist only of a log, as any writer may write it, without data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write(
    table: str | Path,
    schema: str,
    files: list[dict[str, Any]],
    partitions: list[str] | None = None,
) -> None:
    """Write version 0 with these add actions.

    Args:
        table: the folder.
        schema: in Delta's JSON form.
        files: fields of each add action besides the common ones; ``stats`` as a dict.
        partitions: partition columns.
    """
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2}
    metadata = {
        "id": "b6bd2a3c-0000-4000-8000-000000000000",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": partitions or [],
        "configuration": {},
        "createdTime": 0,
    }
    actions = [{"protocol": protocol}, {"metaData": metadata}]
    for number, file in enumerate(files):
        add = {
            "path": f"part-{number:05d}.parquet",
            "partitionValues": {},
            "size": 1000 + number,
            "modificationTime": number,
            "dataChange": True,
            **file,
        }
        if isinstance(add.get("stats"), dict):
            add["stats"] = json.dumps(add["stats"])
        actions.append({"add": add})
    log = Path(table) / "_delta_log"
    log.mkdir(parents=True)
    text = "".join(json.dumps(action) + "\n" for action in actions)
    (log / f"{0:020d}.json").write_text(text, encoding="utf-8")


def set_operation_metrics(table: str | Path, version: int, **metrics: int) -> None:
    """Change the operation metrics of a commit in the log."""
    values = {name: str(value) for name, value in metrics.items()}
    edit(table, version, "commitInfo", lambda info: info["operationMetrics"].update(values))


def edit(
    table: str | Path, version: int, kind: str, change: Callable[[dict[str, Any]], object]
) -> None:
    """Change the actions of a kind in a commit, as another writer may have written them."""
    commit = Path(table) / "_delta_log" / f"{version:020d}.json"
    actions = [json.loads(line) for line in commit.read_text(encoding="utf-8").splitlines()]
    for action in actions:
        if kind in action:
            change(action[kind])
    commit.write_text("".join(json.dumps(a) + "\n" for a in actions), encoding="utf-8")
    # Checksums of the file and of the version, if there are any, no longer match.
    for checksum in commit.parent.glob(f"*{version:020d}*.crc"):
        checksum.unlink()
