"""What the commands have in common: their arguments, and the table that they open."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zcube._spark import connect, launch
from zcube.cli.output import note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zcube.table import ClusteredTable

_UI = "spark.ui.enabled"


class _Once(argparse.Action):
    """Stores an option's value. A repeated option is an error: one of the two would be ignored."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            raise argparse.ArgumentError(self, "given twice")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


class Commands:
    """The commands of a parser; each module adds its own."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser
        self._commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")

    def add(self, name: str, purpose: str, example: str) -> argparse.ArgumentParser:
        """Add a command."""
        command = self._commands.add_parser(name, help=purpose, epilog=f"example: {example}")
        command.register("action", None, _Once)
        return command

    def add_for_table(self, name: str, purpose: str, example: str) -> argparse.ArgumentParser:
        """Add a command with a table, which ``open_table`` opens."""
        command = self.add(name, purpose, example)
        command.add_argument("table", help="folder of a Delta table, or a table's name with --name")
        command.add_argument("--name", action="store_true", help="TABLE is a name, not a path")
        add_spark_options(command)
        command.add_argument("--json", action="store_true", help="print the result as JSON")
        return command


def add_spark_options(command: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options that ``session`` reads; return the mutually exclusive group."""
    where = command.add_mutually_exclusive_group()
    where.add_argument("--master", help="Spark master (default: Spark's own)")
    where.add_argument("--remote", help="Spark Connect server, sc://host:port")
    command.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", type=_setting, help="for Spark"
    )
    return where


def depth(text: str) -> float:
    """Read a bound for the depth of files."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 1 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, not {text!r}")
    return number


def share(text: str) -> float:
    """Read a bound for a share, 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return number


def list_columns(command: argparse.ArgumentParser, option: str, what: str) -> None:
    """Add an option for a list of columns."""
    # A repeated option adds columns: silently using only the last one would be surprising.
    command.add_argument(option, metavar="COLUMN,…", type=names, action="extend", help=what)


def names(text: str) -> list[str]:
    """Split a list at its commas, outside backquotes.

    A backquote quotes only at the beginning of a part of a name, as in ``quoting.name_parts``.

    >>> names("x, a.`b,c`, d`e, f")
    ['x', 'a.`b,c`', 'd`e', 'f']
    """
    found = [""]
    for piece in re.findall(r"(?:(?<=[,.\s])|^)`(?:[^`]|``)*`|.", text, re.DOTALL):
        if piece == ",":
            found.append("")
        else:
            found[-1] += piece
    return [name.strip() for name in found]


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"write {text!r} as KEY=VALUE")
    return key, value


def weights(text: str) -> dict[str, float]:
    """Read ``x=3,y=1``."""
    found: dict[str, float] = {}
    for pair in names(text):
        before, _, number = pair.rpartition("=")
        name = before.strip()
        if name in found:
            raise argparse.ArgumentTypeError(f"names the column {name} twice")
        try:
            found[name] = float(number)
        except ValueError:
            raise argparse.ArgumentTypeError(f"write {pair!r} as COLUMN=NUMBER") from None
    return found


@contextmanager
def start_session(options: argparse.Namespace) -> Iterator[SparkSession]:
    """Start a Spark session for the command, and stop it at the end."""
    from pyspark.sql import SparkSession

    from zcube.session import configure

    builder = SparkSession.builder.appName(f"zcube {options.command}")
    if options.master:
        builder = builder.master(options.master)
    if options.remote:
        builder = builder.remote(options.remote)
    if options.command == "optimize" and find_spec("rich"):
        # ZCube's bar shows cubes and bytes; two bars would overwrite each other.
        builder = builder.config("spark.ui.showConsoleProgress", "false")
    for key, value in options.conf:
        builder = builder.config(key, value)
    server = connect.server_of(builder._options)
    if server is not None:
        silence = connect.silence_of(server)
        if silence is not None:
            note(silence)
    else:
        # A command opens no port for Spark's web pages, unless somebody asked for it.
        asked = {**launch.default_settings(), **launch.submit_settings(), **builder._options}
        if _UI not in asked:
            builder = builder.config(_UI, "false")
    spark = configure(builder).getOrCreate()
    try:
        yield spark
    finally:
        # The command is over, however Spark ends.
        with suppress(Exception):
            spark.stop()


@contextmanager
def open_table(options: argparse.Namespace) -> Iterator[ClusteredTable]:
    """Open the command's table, in a separate session."""
    from zcube.table import ClusteredTable

    with start_session(options) as spark:
        find = ClusteredTable.for_name if options.name else ClusteredTable.for_path
        yield find(spark, options.table)
