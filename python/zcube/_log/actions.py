"""The add actions of a Delta log, with tags and statistics as they were written.

deltalake doesn't return tags and clustering columns, and drops all of a file's statistics if a
single value isn't what it expects. So this module reads the log itself.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any


class NotServedError(Exception):
    """This reader doesn't support the log; Delta itself must read it."""


class LostVersionError(NotServedError):
    """A version's log is gone, so that Delta can't read it either."""


@dataclass(frozen=True)
class LoggedFile:
    """A live file, according to its add action.

    Attributes:
        path: as in the log.
        size: bytes.
        modified: when it was written, in milliseconds since 1970.
        tags: its tags.
        provider: the clustering provider: ``liquid``, or None.
        statistics: JSON text, if it has any.
    """

    path: str
    size: int
    modified: int
    tags: dict[str, str]
    provider: str | None
    statistics: str | None


@dataclass
class LogActions:
    """The live files of one version, and its metadata domains.

    Attributes:
        files: by path and deletion vector.
        domains: the configuration of each, as a string.
    """

    files: dict[tuple[str, str], LoggedFile] = field(default_factory=dict)
    domains: dict[str, str] = field(default_factory=dict)


def read(log: Path, version: int) -> LogActions:
    """Replay the log from its newest checkpoint up to a version.

    Raises:
        NotServedError: commits are missing, or the checkpoint is not a single Parquet file with
            statistics as JSON.
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
            raise NotServedError("its checkpoint has several files")
        for action in _checkpoint(log / name):
            _apply(found, action)
        first = number + 1
    for number in range(first, version + 1):
        name = f"{number:020d}.json"
        if name not in names:
            raise NotServedError(f"commit {number} is missing")
        own = commit(log / name)
        # A commit may remove a file and add it again with a different deletion vector.
        for action in own:
            if action.get("remove"):
                found.files.pop(_key(action["remove"]), None)
        for action in own:
            _apply(found, action)
    return found


def is_lost(log: Path, version: int) -> bool:
    """Return whether a version can't be rebuilt, because commits after a checkpoint are missing."""
    names = [path.name for path in log.iterdir()]
    if any(".compacted." in name for name in names):
        return False  # these may replace commits, which only Delta knows
    found = [re.match(r"(\d{20})\.(json$|checkpoint\.)", name) for name in names]
    numbers = [(int(match[1]), match[2]) for match in found if match]
    commits = {number for number, kind in numbers if kind == "json"}
    starts = [-1, *(number for number, kind in numbers if kind != "json" and number <= version)]
    return not commits.issuperset(range(max(starts) + 1, version + 1))


def _apply(found: LogActions, action: dict[str, Any]) -> None:
    add, domain = action.get("add"), action.get("domainMetadata")
    if add:
        found.files[_key(add)] = LoggedFile(
            path=add["path"],
            size=add["size"],
            modified=add["modificationTime"],
            tags=dict(add.get("tags") or {}),
            provider=add.get("clusteringProvider"),
            statistics=add.get("stats"),
        )
    if domain:
        if domain.get("removed"):
            found.domains.pop(domain["domain"], None)
        else:
            found.domains[domain["domain"]] = domain["configuration"]


def _key(action: dict[str, Any]) -> tuple[str, str]:
    vector = action.get("deletionVector") or {}
    names = ("storageType", "pathOrInlineDv", "offset")
    return action["path"], "/".join(str(vector.get(name)) for name in names)


_KINDS = frozenset({"add", "remove", "domainMetadata", "commitInfo"})
_MAX_KEPT_BYTES = 1 << 20
_MAX_ALL_KEPT_BYTES = 64 << 20
# Parsed, even a short commit takes about as much.
_MIN_KEPT_BYTES = 1 << 12

_Actions = tuple[dict[str, Any], ...]
_State = tuple[int, int, int]


class _KeptCommits:
    """The actions of the commits that were read last, up to a number of bytes of their text."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[Path, tuple[_State, int, _Actions]] = OrderedDict()
        self._lock = Lock()

    def find(self, file: Path, state: _State) -> _Actions | None:
        """Return a file's actions, if they are kept and the file is still in this state."""
        with self._lock:
            known, _, actions = self._kept.get(file, (None, 0, ()))
            if known != state:
                return None
            self._kept.move_to_end(file)
            return actions

    def keep(self, file: Path, state: _State, actions: _Actions) -> None:
        """Keep a file's actions; drop the least recently read ones."""
        size = max(state[0], _MIN_KEPT_BYTES)
        with self._lock:
            self._drop(file)
            self._kept[file] = state, size, actions
            self._bytes += size
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, file: Path) -> None:
        _, size, _ = self._kept.pop(file, (None, 0, ()))
        self._bytes -= size


_kept = _KeptCommits(_MAX_ALL_KEPT_BYTES)


def commit(file: Path) -> _Actions:
    """Return the actions of a commit, which all readers share; small ones are kept."""
    found = file.stat()
    # A commit never changes, but another table may be written to the same folder.
    state = (found.st_size, found.st_mtime_ns, found.st_ino)
    actions = _kept.find(file, state)
    if actions is None:
        actions = _read_commit(file)
        if found.st_size <= _MAX_KEPT_BYTES:
            _kept.keep(file, state, actions)
    return actions


def _read_commit(file: Path) -> _Actions:
    lines = file.read_text(encoding="utf-8").split("\n")
    actions = (json.loads(line) for line in lines if line.strip())
    return tuple(action for action in actions if action.keys() & _KINDS)


def _checkpoint(file: Path) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    checkpoint = parquet.ParquetFile(file)
    if "stats" not in {field.name for field in checkpoint.schema_arrow.field("add").type}:
        raise NotServedError("its checkpoint has no statistics as JSON")
    names = ("path", "size", "modificationTime", "tags", "clusteringProvider", "stats")
    columns = [f"add.{name}" for name in (*names, "deletionVector")] + ["domainMetadata"]
    for batch in checkpoint.iter_batches(columns=columns):
        yield from batch.to_pylist()
