"""Reads a Delta table's log without Spark, with the package deltalake."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from deltalake import DeltaTable

from zcube._log import actions, history, quality, tags
from zcube._log.actions import LoggedFile, LostVersionError, NotServedError
from zcube._log.column import LogColumn
from zcube._log.conditions import NO_CLUSTERING_COLUMNS
from zcube._log.cubes import LoggedCube, names_in
from zcube._log.files import Axis, FileBounds, interval
from zcube._log.schema import INDEXED, leaves
from zcube._log.statistics import LogStatistics
from zcube._messages import first_line
from zcube._sql import quoting
from zcube._sql.arguments import column_names
from zcube._uris import local_path
from zcube.errors import ZCubeError
from zcube.results.quality import ALL, ClusteringQuality

# Above this number, DESCRIBE CLUSTERING takes a sample of the boxes.
_MAX_FILES = 20_000
# Above this number, Spark reads the log with all its cores, and without keeping all of it.
_MAX_READ = 200_000
# Reader features that don't change the figures.
_FEATURES = {"deletionVectors", "timestampNtz", "vacuumProtocolCheck"}
# Writer features with which the newest commits may be elsewhere.
_COMMITTING = {"coordinatedCommits-preview", "catalogManaged", "catalogOwned-preview"}
# What a reader raises where a log has something of another kind than expected.
# A RuntimeError may be that of JSON that is nested too deeply.
_UNEXPECTED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,
)


@contextmanager
def _left_to_spark() -> Iterator[None]:
    """Leave a log to Spark if ZCube's reader finds something of another kind than expected."""
    try:
        yield
    except ImportError as error:
        raise NotServedError(
            f"reading the log without Spark needs {error.name}: pip install 'zcube[log]'"
        ) from error
    except _UNEXPECTED as error:
        # The text of a KeyError, for example, is only the key.
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise NotServedError(f"ZCube's reader of the log can't read it: {reason}") from error


@contextmanager
def _read_by_deltalake() -> Iterator[None]:
    """Leave a log to Spark if deltalake, which the block calls, can't read it."""
    try:
        yield
    except ImportError:
        raise
    # It raises errors of many kinds, also plain ones.
    except Exception as error:
        # The text may end with a stack trace.
        reason = first_line(error)
        raise NotServedError(f"deltalake can't read it: {reason}") from error


class DeltaLakeLog:
    """A table in a local folder; returns the figures of ``ClusteredTable``, or raises an error.

    >>> DeltaLakeLog.open("/data/events").quality(columns=["x"])  # doctest: +SKIP
    """

    def __init__(self, table: DeltaTable, path: Path) -> None:
        """Use ``open``."""
        self._path = path
        with _read_by_deltalake():
            self.version = table.version()
            metadata, schema = table.metadata(), table.schema().to_json()
            paths = table.get_add_actions().column("path").to_pylist()
        self._properties = metadata.configuration
        if len(paths) > _MAX_READ:
            raise NotServedError(
                f"it has more than {_MAX_READ} files, which Spark reads in parallel"
            )
        self._actions = actions.read(path / "_delta_log", self.version)
        self._files = list(self._actions.files.values())
        _require_same_files(paths, self._files)
        self._statistics = LogStatistics(
            self._files,
            json.loads(schema),
            metadata.partition_columns,
            self.name,
        )

    @classmethod
    @_left_to_spark()
    def open(cls, path: str, version: int | None = None) -> DeltaLakeLog:
        """Open a table.

        Raises:
            NotServedError: the table can't be read in a way that guarantees Delta's figures.
        """
        folder = local_path(path)
        if folder is None or not (folder / "_delta_log").is_dir():
            raise NotServedError(f"{path} is not a local folder of a Delta table")
        resolved = str(folder.resolve())
        # deltalake takes a path for a URI, and would open the folder `a b` for `a%20b`.
        if re.search(r"%[0-9A-Fa-f]{2}|\\", resolved):
            raise NotServedError(f"deltalake may take {resolved} for another folder")
        with _read_by_deltalake():
            table = DeltaTable(resolved, version=version)
        _require_served(table)
        return cls(table, folder)

    @_left_to_spark()
    def quality(
        self, *, columns: Sequence[str] | None = None, where: str | None = None
    ) -> ClusteringQuality:
        """Measure as ``ClusteredTable.quality`` does."""
        if where is not None:
            raise NotServedError("WHERE needs Spark's data skipping")
        chosen = self._own_columns() if columns is None else self._find_all(columns)
        files = len(self._files)
        if files > _MAX_FILES and len(chosen) > 1:
            raise NotServedError(f"above {_MAX_FILES} files Spark measures a sample")
        found = [self._statistics.ranges(column) for column in chosen]
        ranges = [column_ranges for column_ranges, _ in found]
        without = files - int(np.logical_and.reduce([r.known for r in ranges]).sum())
        note = f"{without} of {files} files have no minimum and maximum in each column"
        return ClusteringQuality(
            columns=[
                quality.of_column(column.name, column_ranges, notes)
                for column, (column_ranges, notes) in zip(chosen, found, strict=True)
            ],
            all=quality.of_boxes(ALL, ranges, note if without and len(chosen) > 1 else ""),
            _files_read=self.files_read,
            **self._sizes(chosen),
        )

    def files_read(self, predicate: str) -> list[str]:
        """Raise an error: only Spark knows what its scan reads."""
        raise NotServedError("a predicate needs Spark's data skipping")

    def at(self, version: int) -> DeltaLakeLog:
        """Return the table as of a version.

        Raises:
            LostVersionError: the log no longer has it.
            NotServedError: as ``open`` raises it.
        """
        try:
            return DeltaLakeLog.open(str(self._path), version)
        except NotServedError as error:
            if actions.is_lost(self._path / "_delta_log", version):
                raise LostVersionError(f"version {version} is gone") from error
            raise

    @property
    def name(self) -> str:
        """The path of the table's folder."""
        return str(self._path)

    @property
    def over_connect(self) -> bool:
        """False: files and cubes are in the log."""
        return False

    @_left_to_spark()
    def commits(self, max_count: int | None = None) -> list[dict[str, Any]]:
        """Return the commits as DESCRIBE HISTORY does, the newest first."""
        log = self._path / "_delta_log"
        return [
            {
                "version": commit["version"],
                "timestamp": datetime.fromtimestamp(commit["timestamp"] / 1000),
                "operation": commit.get("operation"),
                "operationMetrics": {
                    name: str(value)
                    for name, value in (commit.get("operationMetrics") or {}).items()
                },
            }
            for commit in history.commits(log, self.version, self._properties, max_count)
        ]

    def columns_with_minimum(self) -> list[str]:
        """Return the columns for which Delta keeps minima, judged by type and position."""
        return self._statistics.columns_with_minimum()

    @_left_to_spark()
    def files(self, columns: Sequence[str]) -> tuple[list[Axis], list[FileBounds]]:
        """Return each file's minima and maxima."""
        chosen = [self._statistics.find(quoting.name_parts(name)) for name in columns]
        ends = [self._statistics.numbers(column) for column in chosen]
        boxes = [
            FileBounds(
                file.path,
                file.size,
                tuple(interval(pairs[i]) for pairs in ends),
                file.tags.get(tags.CUBE),
            )
            for i, file in enumerate(self._files)
        ]
        axes = [Axis(".".join(c.parts), c.type.sql, c.type.kind) for c in chosen]
        return axes, sorted(boxes, key=lambda box: box.path)

    @_left_to_spark()
    def cubes(self) -> list[LoggedCube]:
        """Return the ZCubes, the largest first."""
        sums: dict[tuple[str, str | None, str | None], list[int]] = {}
        for file in self._files:
            if tags.CUBE in file.tags:
                key = (file.tags[tags.CUBE], file.tags.get(tags.COLUMNS), file.tags.get(tags.CURVE))
                sums.setdefault(key, []).append(file.size)
        return LoggedCube.in_order(
            LoggedCube(id_, names_in(by), curve, len(sizes), sum(sizes))
            for (id_, by, curve), sizes in sums.items()
        )

    def _own_columns(self) -> list[LogColumn]:
        """Return the clustering columns, or those of the file that was clustered last."""
        domain = self._actions.domains.get("delta.clustering")
        if domain:
            declared = _parsed(domain).get("clusteringColumns") or []
            if declared:
                return [self._statistics.find(parts) for parts in declared]
        newest = max(
            (
                (
                    _clustered_time(file),
                    file.tags[tags.COLUMNS],
                    file.tags.get(tags.PHYSICAL_COLUMNS) or "",
                    file.path,
                )
                for file in self._files
                if _names(file.tags.get(tags.COLUMNS) or "[]")
            ),
            default=None,
        )
        if newest is None:
            raise ZCubeError(NO_CLUSTERING_COLUMNS.message(table=self.name))
        _, logical, physical, _ = newest
        if physical:
            return [self._statistics.find(parts, exact=True) for parts in _parsed(physical)]
        return [self._statistics.find(quoting.name_parts(name)) for name in _parsed(logical)]

    def _find_all(self, columns: Sequence[str]) -> list[LogColumn]:
        return [self._statistics.find(parts) for parts in column_names(columns, "columns")]

    def _sizes(self, columns: Sequence[LogColumn]) -> dict[str, int]:
        """Return the number of cubes by these columns, and the bytes of their and other files."""
        names = [column.name for column in columns]
        physical = json.dumps(
            [list(column.parts) for column in columns], separators=(",", ":"), ensure_ascii=False
        )
        names_of = functools.cache(_names)
        cubes: set[str] = set()
        inside = fresh = others = 0
        for file in self._files:
            foreign = file.provider not in (None, "liquid")
            cube, by = file.tags.get(tags.CUBE), file.tags.get(tags.COLUMNS)
            own = file.tags.get(tags.PHYSICAL_COLUMNS)
            # A tag without columns is none.
            found = [] if cube is None or by is None else names_of(by)
            matches = own == physical if own is not None else found == names
            if cube is not None and found and matches and not foreign:
                cubes.add(cube)
                inside += file.size
            elif found or foreign:
                others += file.size
            else:
                fresh += file.size
        return {
            "cubes": len(cubes),
            "bytes": inside + fresh + others,
            "bytes_in_cubes": inside,
            "bytes_fresh": fresh,
            "bytes_other_columns": others,
        }


def _clustered_time(file: LoggedFile) -> int:
    """Return when it, or the file whose rows it has, was clustered."""
    time = file.tags.get(tags.CLUSTERED_TIME)
    if time is None:
        return file.modified
    if not re.fullmatch(r"[0-9]{1,18}", time):
        raise NotServedError(f"a malformed tag: {time!r}")
    return int(time)


def _parsed(tag: str) -> Any:
    try:
        return json.loads(tag)
    except ValueError as error:
        raise NotServedError(f"a malformed tag: {error}") from error


def _names(tag: str) -> list[str]:
    """Return the columns in a tag; none if it has something else.

    Unlike ``names_in``, for which a damaged tag is none either, this leaves to Spark what may make
    a figure another one there.
    """
    names = _parsed(tag)
    if not isinstance(names, list):
        return []
    if not all(isinstance(name, str) for name in names):
        raise NotServedError(f"a malformed tag: {tag}")
    return names


def _require_same_files(theirs: Iterable[str], files: Sequence[LoggedFile]) -> None:
    """Check that both readers of the log, deltalake and this package, found the same files."""
    if sorted(map(unquote, theirs)) != sorted(unquote(file.path) for file in files):
        raise NotServedError("ZCube and deltalake found different files in its log")


def _require_served(table: DeltaTable) -> None:
    with _read_by_deltalake():
        protocol, properties = table.protocol(), table.metadata().configuration
    unknown = set(protocol.reader_features or ()) - _FEATURES
    unknown |= _COMMITTING & set(protocol.writer_features or ())
    if protocol.min_reader_version > 3 or unknown:
        raise NotServedError(f"table feature {', '.join(sorted(unknown)) or 'unknown'}")
    if properties.get("delta.columnMapping.mode", "none") != "none":
        raise NotServedError("column mapping")
    if any(key.startswith("delta.dataSkipping") for key in properties):
        raise NotServedError(
            "a table that sets delta.dataSkippingStatsColumns or another delta.dataSkipping*"
        )
    with _read_by_deltalake():
        schema = table.schema().to_json()
    if sum(1 for _ in leaves(json.loads(schema))) > INDEXED:
        raise NotServedError(f"more than {INDEXED} columns")
