"""The command ``zcube recommend``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from zcube._spark import event_log, gateway
from zcube._sql.statements import split_statements
from zcube.cli.arguments import Commands, open_table
from zcube.cli.output import note, show
from zcube.errors import ZCubeError
from zcube.results.formatting import counted

if TYPE_CHECKING:
    from zcube.table import ClusteredTable


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
        "--event-log", metavar="DIR", help="Spark's event logs; uses the scans of the table in them"
    )
    recommend.set_defaults(run=_recommend)


def _recommend(options: argparse.Namespace) -> int:
    queries: list[str | tuple[str, float]] = []
    if options.queries:
        queries = _from_file(Path(options.queries))
    elif not Path(options.event_log).exists():
        raise ZCubeError(f"There is no event log at {options.event_log}.")
    with open_table(options) as table:
        if options.event_log:
            queries = _from_event_log(Path(options.event_log), table)
        advice = table.recommend(queries)
    show(json.dumps(advice.to_dict()) if options.json else advice)
    return 0


def _from_file(file: Path) -> list[str | tuple[str, float]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ZCubeError(f"The queries can't be read: {error}.") from error
    queries = split_statements(text)
    if not queries:
        raise ZCubeError(f"There is no query in {file}.")
    return queries


def _from_event_log(path: Path, table: ClusteredTable) -> list[str | tuple[str, float]]:
    unpack = None if table._over_connect() else gateway.open_event_log
    log = event_log.read(path, table.location, unpack)
    for text, count in log.unsupported.most_common():
        scans = counted(count, "scan")
        note(f"unsupported filter in {scans}: {text}")
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
            f"No scan in {path} filters {table.location}. Give logs of queries on this table."
        )
    return [(text, float(count)) for text, count in log.predicates.most_common()]
