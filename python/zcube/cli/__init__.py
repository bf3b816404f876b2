"""The command ``zcube``."""

from __future__ import annotations

import argparse
import json
import logging
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zcube._log import unclustered
from zcube._sql.arguments import CURVES
from zcube._sql.workload import read_workload
from zcube._version import __version__
from zcube.cli import completion, doctor, engine, pictures, recommend
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from zcube._log.protocol import TableLog
    from zcube.results.quality import ClusteringQuality
    from zcube.table import ClusteredTable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 for success, 1 for failure, 2 for bad usage."""
    # Errors are one line. Without a handler, py4j would log many lines for an interrupted call.
    logging.getLogger().addHandler(logging.NullHandler())
    parser = _parser()
    options = parser.parse_args(arguments)
    engine.check(parser.error, options)
    try:
        return int(options.run(options))
    except ZCubeError as error:
        print(f"zcube: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("zcube: stopped", file=sys.stderr)
    except Exception as error:
        from pyspark.errors import PySparkException

        if not isinstance(error, PySparkException):
            raise
        print(f"zcube: {str(error).splitlines()[0]}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zcube",
        description="Cluster Delta Lake tables so that queries skip files.",
        epilog="example: zcube quality /data/events --by x,y; commands have --help with an example",
    )
    parser.add_argument("--version", action="version", version=f"zcube {__version__}")
    commands = parser.add_subparsers(required=True, dest="command", metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="demonstrate the main job on TPC-H data",
        epilog="example: zcube demo --scale 0.1 --output /tmp/zcube-demo",
    )
    demo.add_argument("--output", default="demo-output", help="folder for data and pictures")
    demo.add_argument("--scale", type=float, default=1.0, help="TPC-H scale factor (default 1)")
    demo.add_argument("--json", action="store_true", help="print the result as JSON")
    demo.set_defaults(run=_demo)

    optimize = _table_command(
        commands,
        "optimize",
        "cluster a table",
        "zcube optimize /data/events --zorder-by x,y --where \"day = '2026-01-01'\"; "
        "zcube optimize --name events --max-bytes 50g  # a clustered table",
    )
    _what_to_optimize(optimize)
    optimize.set_defaults(run=_optimize)

    plan = _table_command(
        commands,
        "plan",
        "show what optimize would do; write nothing",
        "zcube plan /data/events --zorder-by x,y --max-bytes 10g",
    )
    _what_to_optimize(plan)
    plan.add_argument(
        "--forecast", action="store_true", help="predict depth and skipping; reads a sample"
    )
    plan.set_defaults(run=_plan)

    quality = _table_command(
        commands,
        "quality",
        "measure how well a table is clustered, from the log alone",
        "zcube quality /data/events --by x,y --max-depth 4 --min-skipping 0.9",
    )
    _list_columns(quality, "--by", "x,y (default: the table's own, or those with statistics)")
    quality.add_argument("--where", help="predicate that selects files")
    quality.add_argument(
        "--max-depth",
        type=_depth,
        metavar="N",
        help="exit with code 1 if the maximum depth is over this",
    )
    quality.add_argument(
        "--min-skipping",
        type=_share,
        metavar="SHARE",
        help="exit with code 1 if the skipping effectiveness, 0 to 1, is under this",
    )
    engine.add(quality)
    quality.set_defaults(run=_quality)

    recommend.add(partial(_table_command, commands), _table)
    pictures.add(partial(_table_command, commands), _list_columns, _table)
    doctor.add(commands, _session, _say_which_spark)
    completion.add(commands, parser)
    return parser


def _table_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    purpose: str,
    example: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=purpose, epilog=f"example: {example}")
    command.add_argument("table", help="folder of a Delta table, or a table's name with --name")
    command.add_argument("--name", action="store_true", help="TABLE is a name, not a path")
    _say_which_spark(command)
    command.add_argument("--json", action="store_true", help="print the result as JSON")
    return command


def _say_which_spark(command: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options that ``_session`` reads; return the mutually exclusive group."""
    where = command.add_mutually_exclusive_group()
    where.add_argument("--master", help="Spark master (default: Spark's own)")
    where.add_argument("--remote", help="Spark Connect server, sc://host:port")
    command.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", type=_setting, help="for Spark"
    )
    return where


def _what_to_optimize(command: argparse.ArgumentParser) -> None:
    _list_columns(command, "--zorder-by", "x,y; not for clustered tables, which define their own")
    command.add_argument("--where", help="predicate on partition or clustering columns")
    command.add_argument(
        "--full",
        action="store_true",
        help="also rewrite files clustered by other columns or curves",
    )
    command.add_argument(
        "--curve", choices=CURVES, help="kdtree, unless spark.zcube.layout.curve says otherwise"
    )
    command.add_argument(
        "--weights", type=_weights, metavar="COLUMN=NUMBER,…", help="with --curve kdtree: x=3,y=1"
    )
    command.add_argument(
        "--workload",
        metavar="FILE",
        help="with --curve kdtree: predicates, one per line, optionally as 'weight | predicate'; "
        "files are cut so that these skip most",
    )
    command.add_argument("--merge-policy", choices=("leveled", "all"))
    for option, text in (
        ("--max-bytes", "rewrite at most this many bytes now, such as 10g"),
        ("--max-duration", "start no job after this time, such as 30min"),
        ("--min-cube-size", "a ZCube of this size is stable"),
        ("--target-cube-size", "size up to which a ZCube is filled"),
        ("--max-file-size", "size of the files to write"),
    ):
        command.add_argument(option, metavar=option.rsplit("-", 1)[-1].upper(), help=text)


def _how_to_optimize(options: argparse.Namespace) -> dict[str, Any]:
    names = ["where", "full", "curve", "weights", "merge_policy", "max_bytes", "max_duration"]
    names += ["min_cube_size", "target_cube_size", "max_file_size"]
    given = {name: getattr(options, name) for name in names}
    workload = read_workload(options.workload) if options.workload else None
    return {"zorder_by": options.zorder_by, "workload": workload, **given}


def _depth(text: str) -> float:
    try:
        depth = float(text)
    except ValueError:
        depth = 0.0
    if not 1 <= depth < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of at least 1, not {text!r}")
    return depth


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, not {text!r}")
    return share


def _list_columns(command: argparse.ArgumentParser, option: str, what: str) -> None:
    # A repeated option adds columns: silently using only the last one would be surprising.
    command.add_argument(option, metavar="COLUMNS", type=_columns, action="extend", help=what)


def _columns(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise argparse.ArgumentTypeError(f"write {text!r} as KEY=VALUE")
    return key, value


def _weights(text: str) -> dict[str, float]:
    weights = {}
    for pair in text.split(","):
        name, _, number = pair.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise argparse.ArgumentTypeError(f"write {pair!r} as COLUMN=NUMBER") from None
    return weights


def _demo(options: argparse.Namespace) -> int:
    from zcube.demo.run import run

    return run(options.output, options.scale, as_json=options.json)


def _optimize(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with _table(options) as table:
        result = table.optimize(**how)
        print(json.dumps(result.to_dict(), default=str) if options.json else result)
    return 0


def _plan(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with _table(options) as table:
        plan = table.optimize(**how, dry_run=True, forecast=options.forecast)
        print(json.dumps(plan.to_dict()) if options.json else plan)
    return 0


def _quality(options: argparse.Namespace) -> int:
    bounds = (options.max_depth, options.min_skipping)

    def measure(table: TableLog) -> tuple[ClusteringQuality, bool]:
        # A bound on columns that weren't chosen would be meaningless.
        if any(bound is not None for bound in bounds):
            return table.quality(columns=options.by, where=options.where), True
        return unclustered.quality_by_any(table, options.by, options.where)

    quality, own = engine.read(options, _table, measure)
    if not own:
        print(f"zcube: {unclustered.NOTE}", file=sys.stderr)
    note = {} if own else {"note": unclustered.NOTE}
    print(json.dumps({**quality.to_dict(), **note}) if options.json else quality)
    violations = quality.violations(max_depth=options.max_depth, min_skipping=options.min_skipping)
    for violation in violations:
        print(f"zcube: {violation}", file=sys.stderr)
    return 1 if violations else 0


@contextmanager
def _session(options: argparse.Namespace) -> Iterator[SparkSession]:
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
    spark = configure(builder).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _table(options: argparse.Namespace) -> Iterator[ClusteredTable]:
    """Open the command's table, in a separate session."""
    from zcube.table import ClusteredTable

    with _session(options) as spark:
        find = ClusteredTable.for_name if options.name else ClusteredTable.for_path
        yield find(spark, options.table)


if __name__ == "__main__":
    sys.exit(main())
