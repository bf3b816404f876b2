"""The command ``zcube recommend``."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from zcube._log.protocol import log_of
from zcube._spark import event_log, gateway, pushed_filters
from zcube._sql.statements import split_statements
from zcube._uris import local_path
from zcube.cli.arguments import Commands, open_table
from zcube.cli.output import note, show
from zcube.errors import ZCubeError
from zcube.results.formatting import counted

if TYPE_CHECKING:
    from zcube.table import ClusteredTable

# Of filters that couldn't be read, and of locations.
_MAX_EXAMPLES, _MAX_CHARACTERS = 3, 80


def add(commands: Commands) -> None:
    """Add the command."""
    recommend = commands.add_for_table(
        "recommend",
        "recommend the columns to cluster by",
        "zcube recommend /data/events --queries queries.sql; "
        "zcube recommend /data/events --event-log /var/log/spark-events",
    )
    source = recommend.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--queries",
        metavar="FILE",
        help="SQL queries or predicates separated by semicolons; a line '-- weight: 3' above one "
        "says how often it runs",
    )
    source.add_argument(
        "--event-log",
        metavar="DIR",
        help="Spark's event logs, a local file or folder; uses the scans of the table in them",
    )
    recommend.set_defaults(run=_recommend)


def _recommend(options: argparse.Namespace) -> int:
    queries: list[str | tuple[str, float]] = []
    if options.queries:
        queries = _from_file(Path(options.queries))
    log = _local_log(options.event_log) if options.event_log else None
    with open_table(options) as table:
        if log is not None:
            queries = _from_event_log(log, table)
        advice = table.recommend(queries)
    show(json.dumps(advice.to_dict()) if options.json else advice)
    return 0


def _local_log(text: str) -> Path:
    """Return the path of an event log; it may be written as ``spark.eventLog.dir`` has it."""
    log = local_path(text)
    if log is None:
        raise ZCubeError(f"There is no local event log at {text}. Copy it here first.")
    if not log.exists():
        raise ZCubeError(f"There is no local event log at {text}.")
    return log


def _from_file(file: Path) -> list[str | tuple[str, float]]:
    try:
        # Editors on Windows begin a file with a mark of its encoding.
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ZCubeError(f"The queries can't be read: {error}.") from error
    queries = split_statements(text)
    if not queries:
        raise ZCubeError(f"There is no query in {file}.")
    return queries


def _from_event_log(path: Path, table: ClusteredTable) -> list[str | tuple[str, float]]:
    unpack = None if log_of(table).over_connect else gateway.open_event_log
    location = table.location
    log = event_log.read(path, location, unpack)
    for file in log.damaged:
        note(f"{file} breaks off or is damaged; only the queries before that place count")
    if not log.scans:
        raise ZCubeError(f"No scan in {path} is at {location}; {_elsewhere(log.elsewhere)}.")
    for line in _unsupported(log.unsupported):
        note(line)
    if log.partition_filters:
        note(
            f"filters by partition columns in {counted(log.partition_filters, 'scan')}, which "
            "clustering doesn't affect"
        )
    note(
        f"{counted(log.scans, 'scan')} of the table in the log, "
        f"{log.predicates.total()} with supported filters"
    )
    if not log.predicates:
        raise ZCubeError(
            f"No scan in {path} has supported filters on {location}. Give logs of queries "
            "on this table."
        )
    return [(text, float(count)) for text, count in log.predicates.most_common()]


def _elsewhere(scans: Counter[str]) -> str:
    """Name some of the locations that a log has instead."""
    if not scans:
        return "it has no scans of a single folder"
    named = ", ".join(_shortened(location) for location, _ in scans.most_common(_MAX_EXAMPLES))
    more = len(scans) - _MAX_EXAMPLES
    return f"it has scans at {named}" + (f" and {counted(more, 'other place')}" if more > 0 else "")


def _unsupported(filters: Counter[str]) -> Iterator[str]:
    """Describe the filters that couldn't be read, a line for each kind."""
    kinds: Counter[str] = Counter()
    for text, count in filters.items():
        kinds[pushed_filters.kind(text)] += count
    for kind, count in kinds.most_common():
        texts = [text for text, _ in filters.most_common() if pushed_filters.kind(text) == kind]
        examples = [_shortened(text) for text in texts[:_MAX_EXAMPLES]]
        if len(texts) > _MAX_EXAMPLES:
            examples.append("…")
        yield f"{counted(count, 'unsupported filter')} of the kind {kind}: {'; '.join(examples)}"


def _shortened(text: str) -> str:
    """Return a filter's text on one line; it may hold a list of thousands of values."""
    line = " ".join(text[: 2 * _MAX_CHARACTERS].split())
    whole = len(text) <= 2 * _MAX_CHARACTERS and len(line) <= _MAX_CHARACTERS
    return line if whole else f"{line[:_MAX_CHARACTERS]}…"
