"""What deltalake doesn't tell of a table's log: tags of files, and the clustering columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any


class NotServedError(Exception):
    """The log is one that this reader doesn't serve; Delta itself must read it."""


@dataclass(frozen=True)
class FileTags:
    """What an add action says beside the file's statistics.

    Attributes:
        tags: its tags.
        provider: who clustered it: ``liquid``, or None.
        modified: when it was written, in milliseconds since 1970.
    """

    tags: dict[str, str]
    provider: str | None
    modified: int


@dataclass
class LogActions:
    """The live files of one version, and its metadata domains.

    Attributes:
        files: by path as the log has it.
        domains: the configuration of each, as text.
    """

    files: dict[str, FileTags] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)


def read(log: Path, version: int) -> LogActions:
    """Replay the log from its newest checkpoint up to a version.

    Raises:
        NotServedError: commits are missing, or the checkpoint is of more than one Parquet file.
    """
    names = {path.name for path in log.iterdir()}
    checkpoints = sorted(
        (int(match[1]), name)
        for name in names
        if (match := re.fullmatch(r"(\d{20})\.checkpoint\..+", name)) and int(match[1]) <= version
    )
    found, first = LogActions(), 0
    if checkpoints:
        number, name = checkpoints[-1]
        if name != f"{number:020d}.checkpoint.parquet":
            raise NotServedError("its checkpoint is of several files")
        for action in _checkpoint(log / name):
            _apply(found, action)
        first = number + 1
    for number in range(first, version + 1):
        name = f"{number:020d}.json"
        if name not in names:
            raise NotServedError(f"commit {number} is missing")
        commit = _commit(log / name)
        # A commit may remove a file and add it again with a deletion vector.
        for action in commit:
            if action.get("remove"):
                found.files.pop(action["remove"]["path"], None)
        for action in commit:
            _apply(found, action)
    return found


def _apply(found: LogActions, action: dict[str, Any]) -> None:
    add, domain = action.get("add"), action.get("domainMetadata")
    if add:
        found.files[add["path"]] = FileTags(
            dict(add.get("tags") or {}), add.get("clusteringProvider"), add["modificationTime"]
        )
    if domain:
        if domain.get("removed"):
            found.domains.pop(domain["domain"], None)
        else:
            found.domains[domain["domain"]] = domain["configuration"]


@lru_cache(maxsize=4096)
def _commit(file: Path) -> list[dict[str, Any]]:
    """The actions of a commit, which never changes once it is there."""
    actions = []
    for line in file.read_text(encoding="utf-8").splitlines():
        action = json.loads(line) if line.strip() else {}
        # The statistics are most of the text, and not asked for.
        action.get("add", {}).pop("stats", None)
        if action.keys() & {"add", "remove", "domainMetadata"}:
            actions.append(action)
    return actions


def _checkpoint(file: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    names = ("path", "tags", "clusteringProvider", "modificationTime")
    columns = [f"add.{name}" for name in names] + ["domainMetadata"]
    for batch in parquet.ParquetFile(file).iter_batches(columns=columns):
        yield from batch.to_pylist()
