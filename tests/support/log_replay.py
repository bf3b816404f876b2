"""Reads a Delta log without Delta: which files a table has, with their statistics."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote


@dataclass(frozen=True)
class LiveFile:
    """A file of a table's newest version.

    Attributes:
        path: relative to the table, decoded from the log's URI form.
        size: bytes.
        rows: its physical row count (deletion vectors not taken off), or None without statistics.
        minimum: column to smallest value, as JSON has it (dates are ISO text); nested by dots.
        maximum: column to largest value.
        null_count: column to number of NULLs.
        partition: partition column to value as text, or None for NULL.
        tags: the add action's tags.
    """

    path: str
    size: int
    rows: int | None
    minimum: dict[str, Any]
    maximum: dict[str, Any]
    null_count: dict[str, int]
    partition: dict[str, str | None]
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def box(self) -> tuple[Any, ...]:
        """Row count and ranges: equal for files that hold equally laid out rows."""
        return (
            tuple(sorted(self.partition.items(), key=str)),
            self.rows,
            tuple(sorted(self.minimum.items(), key=str)),
            tuple(sorted(self.maximum.items(), key=str)),
        )


def actions(table: str | Path, version: int) -> list[dict[str, Any]]:
    """The actions of one commit, in order."""
    text = (Path(table) / "_delta_log" / f"{version:020d}.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def last_version(table: str | Path) -> int:
    """The newest version of the table."""
    return max(int(commit.stem) for commit in _commits(table))


def clustering_columns(table: str | Path) -> list[str]:
    """The names that the newest ``delta.clustering`` domain has, physical ones if they are mapped."""
    for version in range(last_version(table), -1, -1):
        for action in actions(table, version):
            domain = action.get("domainMetadata", {})
            if domain.get("domain") == "delta.clustering":
                assert not domain["removed"]
                columns = json.loads(domain["configuration"])["clusteringColumns"]
                return [".".join(parts) for parts in columns]
    return []


def live_files(table: str | Path) -> list[LiveFile]:
    """Replay the commits; every one must still be there, so checkpoints are not needed."""
    versions = sorted(int(commit.stem) for commit in _commits(table))
    assert versions == list(range(len(versions))), f"commits are missing: {versions}"
    alive: dict[tuple[str, str], dict[str, Any]] = {}
    for version in versions:
        commit = actions(table, version)
        # Within a commit a file may be removed and added again with another deletion vector.
        for action in commit:
            if "remove" in action:
                alive.pop(_key(action["remove"]), None)
        for action in commit:
            if "add" in action:
                alive[_key(action["add"])] = action["add"]
    return [_live_file(add) for add in alive.values()]


def data_files_on_disk(table: str | Path) -> set[str]:
    """Every Parquet file below the table, live or not; an orphan was never in the log."""
    root = Path(table)
    return {
        str(path.relative_to(root))
        for path in root.rglob("*.parquet")
        if not path.relative_to(root).parts[0].startswith("_")
    }


def files_ever_added(table: str | Path) -> set[str]:
    """The paths of all add actions in all commits."""
    return {
        unquote(action["add"]["path"])
        for version in range(last_version(table) + 1)
        for action in actions(table, version)
        if "add" in action
    }


def _commits(table: str | Path) -> list[Path]:
    return [p for p in (Path(table) / "_delta_log").glob("*.json") if p.stem.isdigit()]


def _key(action: dict[str, Any]) -> tuple[str, str]:
    return action["path"], json.dumps(action.get("deletionVector"), sort_keys=True)


def _live_file(add: dict[str, Any]) -> LiveFile:
    stats = json.loads(add["stats"]) if add.get("stats") else {}
    return LiveFile(
        path=unquote(add["path"]),
        size=add["size"],
        rows=stats.get("numRecords"),
        minimum=_flat(stats.get("minValues", {})),
        maximum=_flat(stats.get("maxValues", {})),
        null_count=_flat(stats.get("nullCount", {})),
        partition=add.get("partitionValues", {}),
        tags=add.get("tags") or {},
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat
