"""Reads the predicates of past queries from Spark's event logs."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from zcube._spark import pushed_filters
from zcube._uris import canonical, local_path
from zcube.errors import ZCubeError

_CODECS = (".lz4", ".lzf", ".snappy", ".zstd")
_COMPACT = ".compact"
_NOT_NULL = re.compile(r"isnotnull\([^()]*\)")
# Of a rolled log: its number, and the application.
_ROLLED = re.compile(r"events_(\d+)_([^.]*)")


@dataclass
class ScanLog:
    """The scans of one table in an event log.

    Attributes:
        predicates: predicate → how many scans had it. A scan counts only if it has a filter besides
            IS NOT NULL, or if this is all that it has.
        scans: number of scans of the table, including those without a filter.
        unsupported: filters that couldn't be read → how many scans had them; the other filters
            of these scans still count.
        partition_filters: number of scans with filters on partition columns. These filters are
            ignored: clustering happens within partitions.
        elsewhere: other locations that were scanned → number of their scans.
        damaged: compressed files that can be read only up to some place. What precedes it counts.
    """

    predicates: Counter[str] = field(default_factory=Counter)
    scans: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    partition_filters: int = 0
    elsewhere: Counter[str] = field(default_factory=Counter)
    damaged: list[Path] = field(default_factory=list)


def read(path: Path, location: str, unpack: Callable[[Path], BinaryIO] | None = None) -> ScanLog:
    """Read an event log, or a folder of them.

    When a query starts, Spark logs each scan's location and the filters that are pushed down to it.
    This function reads these and not the plan's text, which is truncated.

    Args:
        path: a log as Spark wrote it, rolled or not.
        location: the table's folder.
        unpack: opens logs that Spark has compressed.

    Raises:
        ZCubeError: there is no log, or it is compressed and ``unpack`` is None.
    """
    if not path.exists():
        raise ZCubeError(f"There is no event log at {path}.")
    log = ScanLog()
    # The first file of a rolled log describes the driver.
    zones: dict[tuple[str, ...], str | None] = {}
    for file in _files(path):
        application = _position(file)[0]
        with _open(file, unpack) as lines:
            for event in _events(_readable(lines, file, log)):
                if "System Properties" in event:
                    zones[application] = event["System Properties"].get("user.timezone")
                for metadata in _scans(event.get("sparkPlanInfo") or {}):
                    found = _location(metadata.get("Location", ""))
                    if found is not None and _folder(found) == _folder(location):
                        _add(log, metadata, zones.get(application))
                    # Delta scans its own logs, too.
                    elif found is not None and "/_delta_log" not in found:
                        log.elsewhere[found] += 1
    return log


def _files(path: Path) -> list[Path]:
    files = path.rglob("*") if path.is_dir() else [path]
    events = [f for f in files if f.is_file() and not f.name.startswith((".", "appstatus_"))]
    # A history server that is compacting, or was killed meanwhile, has written a part of it.
    events = [f for f in events if not f.name.endswith(f"{_COMPACT}.inprogress")]
    # A compact file replaces the files up to its number.
    first: dict[tuple[str, ...], int] = {}
    for file in events:
        application, number = _position(file)
        if file.name.endswith(_COMPACT):
            first[application] = max(number, first.get(application, number))
    return sorted((file for file in events if not _is_replaced(file, first)), key=_position)


def _is_replaced(file: Path, first: Mapping[tuple[str, ...], int]) -> bool:
    application, number = _position(file)
    if application not in first:
        return False
    start = first[application]
    return number < start or (number == start and not file.name.endswith(_COMPACT))


def _position(file: Path) -> tuple[tuple[str, ...], int]:
    """Return what is the same for all files of an application, and the file's number in it."""
    rolled = _ROLLED.match(file.name)
    if rolled:
        return (str(file.parent), rolled[2]), int(rolled[1])
    return (str(file),), 0


def _open(file: Path, unpack: Callable[[Path], BinaryIO] | None) -> TextIO:
    name = file.name.removesuffix(_COMPACT).removesuffix(".inprogress")
    if name.endswith(".gz"):
        stream: Any = gzip.GzipFile(file)
    elif not name.endswith(_CODECS):
        stream = file.open("rb")
    elif unpack is not None:
        stream = unpack(file)
    else:
        raise ZCubeError(
            f"The event log {file.name} is compressed; Spark reads it, but not over Spark Connect. "
            "Unpack it first, or write logs with spark.eventLog.compress=false."
        )
    return io.TextIOWrapper(stream, encoding="utf-8", errors="replace")


def _readable(lines: TextIO, file: Path, log: ScanLog) -> Iterator[str]:
    """Yield the lines up to where a log in gzip breaks off or is damaged."""
    known = False
    try:
        for line in lines:
            known = True
            yield line
    except (EOFError, zlib.error):
        log.damaged.append(file)
    except gzip.BadGzipFile:
        # What has lines fits no checksum; what has none is no archive.
        if not known:
            raise
        log.damaged.append(file)


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the beginnings of queries, and descriptions of the driver."""
    for line in lines:
        # Logs are long, so this cheap check comes first. Updated adaptive plans are logged
        # separately and not read.
        if "SparkListenerSQLExecutionStart" in line or "SparkListenerEnvironmentUpdate" in line:
            try:
                event = json.loads(line)
            except (ValueError, RecursionError):
                # The last line of a log that is being written, or a plan nested too deeply.
                continue
            if isinstance(event, dict):
                yield event


def _scans(plan: dict[str, Any]) -> Iterator[dict[str, str]]:
    # A plan may be deeper than functions may call each other.
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        if "PushedFilters" in node.get("metadata", {}):
            yield node["metadata"]
        nodes += reversed(node.get("children", []))


def _location(logged: str) -> str | None:
    """Return the folder of ``PreparedDeltaFileIndex(1 paths)[file:/data/events]``."""
    path = re.fullmatch(r"\w*\(1 paths\)\[(.*)\]", logged, re.DOTALL)
    return path and path[1]


def _folder(location: str) -> str:
    """Return a comparable form of a Hadoop path."""
    path = local_path(location)
    return canonical(location) if path is None else str(path.resolve())


def _add(log: ScanLog, metadata: dict[str, str], zone: str | None) -> None:
    log.scans += 1
    log.partition_filters += metadata.get("PartitionFilters", "[]") != "[]"
    types = pushed_filters.types_of(metadata.get("ReadSchema", ""))
    text = metadata["PushedFilters"].strip()[1:-1]
    # Here, Spark writes filters in another way, so this is inside a string.
    if pushed_filters.are_several(metadata.get("DataFilters", "")):
        log.unsupported[text] += 1
        return
    parts, lost, selects = [], False, False
    for part in pushed_filters.split(text):
        predicate = pushed_filters.predicate(part, types, zone)
        if predicate is None:
            log.unsupported[part] += 1
            lost = True
        else:
            parts.append(predicate)
            selects = selects or pushed_filters.kind(part) != "IsNotNull"
    # Spark adds IS NOT NULL to each comparison and to each key of a join. Alone it hardly ever
    # selects, and a condition that Spark can't push down is only in the data filters.
    if selects:
        log.predicates[" AND ".join(parts)] += 1
    elif not lost:
        data = metadata.get("DataFilters", "").strip()[1:-1]
        if _NOT_NULL.sub("", data).strip(", "):
            log.unsupported[data] += 1
