"""Which engine reads a table's log: deltalake at once, or Spark once it has started."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, TypeVar

from zcube._log.actions import NotServedError
from zcube._spark import launch
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from zcube._log.protocol import TableLog
    from zcube.table import ClusteredTable

Result = TypeVar("Result")
Open = Callable[[argparse.Namespace], AbstractContextManager["ClusteredTable"]]
Refuse = Callable[[str], object]

_OF_SPARK = ("name", "master", "remote", "conf")


def add(command: argparse.ArgumentParser) -> None:
    """Add the choice of engine to a command that only reads the log."""
    command.add_argument(
        "--engine",
        choices=("auto", "log", "spark"),
        default="auto",
        help="read the log by deltalake, in a second, or by Spark; by default by deltalake "
        "where the figures are surely the same",
    )


def check(refuse: Refuse, options: argparse.Namespace) -> None:
    """Refuse options that the engine named has no use for."""
    if getattr(options, "engine", None) == "log":
        for name in _OF_SPARK:
            if getattr(options, name):
                refuse(f"argument --{name}: --engine log starts no Spark")


def read(
    options: argparse.Namespace, open_table: Open, work: Callable[[TableLog], Result]
) -> Result:
    """Do work with a table by the engine that the options ask for.

    ``auto`` takes deltalake for a path, unless an option or SPARK_REMOTE selects Spark. Where
    deltalake can't serve, Spark does it all from the beginning, and standard error says so.

    Raises:
        ZCubeError: ``--engine log`` was asked for and can't serve.
    """
    # With SPARK_REMOTE a path is one of the server's.
    speaks_to_spark = any(getattr(options, name) for name in _OF_SPARK) or launch.is_remote({})
    if options.engine == "log" or (options.engine == "auto" and not speaks_to_spark):
        try:
            return work(_open_log(options.table))
        except NotServedError as reason:
            if options.engine == "log":
                raise ZCubeError(
                    f"--engine log can't serve this: {reason}. Take --engine spark."
                ) from reason
            print(f"zcube: Spark reads the log: {reason}", file=sys.stderr)
    with open_table(options) as table:
        return work(table)


def _open_log(path: str) -> TableLog:
    try:
        from zcube._log.deltalake import DeltaLakeLog
    except ImportError as error:
        raise NotServedError(f"without it needs {error.name}, pip install 'zcube[log]'") from error
    return DeltaLakeLog.open(path)
