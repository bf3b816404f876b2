"""Chooses the engine that reads a table's log: deltalake, or Spark, which takes longer to start."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from zcube._log.actions import NotServedError
from zcube._log.protocol import log_of
from zcube._spark import connect
from zcube._uris import require_text
from zcube.cli.arguments import open_table
from zcube.cli.output import note
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from zcube._log.protocol import TableLog

Result = TypeVar("Result")
Reject = Callable[[str], object]

_OF_SPARK = ("name", "master", "remote", "conf")


def add(command: argparse.ArgumentParser) -> None:
    """Add the choice of engine to a command that only reads the log."""
    command.add_argument(
        "--engine",
        choices=("auto", "log", "spark"),
        default="auto",
        help="read the log with deltalake, in a second, or with Spark; by default with deltalake "
        "where the figures are certain to be the same",
    )


def check(reject: Reject, options: argparse.Namespace) -> None:
    """Reject options that the chosen engine can't use."""
    if getattr(options, "engine", None) == "log":
        for name in _OF_SPARK:
            if getattr(options, name):
                reject(f"argument --{name}: --engine log doesn't start Spark")


def read(options: argparse.Namespace, work: Callable[[TableLog], Result]) -> Result:
    """Do work on a table with the engine that the options choose.

    ``auto`` uses deltalake for a path, unless an option or SPARK_REMOTE selects Spark. If deltalake
    can't do the work, Spark does it from the beginning, and standard error says so.

    Raises:
        ZCubeError: ``--engine log`` is given and can't do the work.
    """
    require_text(options.table, "name" if options.name else "path")
    # With SPARK_REMOTE, a path is on the server.
    names_spark = any(getattr(options, name) for name in _OF_SPARK) or connect.names_server({})
    if options.engine == "log" or (options.engine == "auto" and not names_spark):
        try:
            return work(_open_log(options.table))
        except NotServedError as reason:
            if options.engine == "log":
                raise ZCubeError(
                    f"--engine log can't do this: {reason}. Use --engine spark."
                ) from reason
            note(f"Spark reads the log: {reason}")
    with open_table(options) as table:
        return work(log_of(table))


def _open_log(path: str) -> TableLog:
    try:
        from zcube._log.deltalake import DeltaLakeLog
    except ImportError as error:
        raise NotServedError(
            f"reading the log without Spark needs {error.name}: pip install 'zcube[log]'"
        ) from error
    return DeltaLakeLog.open(path)
