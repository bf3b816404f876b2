"""The command ``zcube``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from zcube._validate import CURVES
from zcube._version import __version__
from zcube.errors import ZCubeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 done, 1 failed, 2 bad usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
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
        prog="zcube", description="Cluster Delta Lake tables so that queries skip files."
    )
    parser.add_argument("--version", action="version", version=f"zcube {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="the main job, shown on TPC-H data")
    demo.add_argument("--output", default="demo-output", help="folder for data and pictures")
    demo.add_argument("--scale", type=float, default=1.0, help="TPC-H scale factor (default 1)")
    demo.set_defaults(run=_demo)

    optimize = commands.add_parser(
        "optimize",
        help="cluster a table",
        epilog="examples: zcube optimize /data/events --zorder-by x,y "
        "--where \"day = '2026-01-01'\"; "
        "zcube optimize --name events --max-bytes 50g  # a clustered table",
    )
    optimize.add_argument("table", help="folder of a Delta table, or a table's name with --name")
    optimize.add_argument("--name", action="store_true", help="TABLE is a name, not a path")
    optimize.add_argument(
        "--zorder-by", metavar="COLUMNS", help="x,y; not for clustered tables, which have their own"
    )
    optimize.add_argument("--where", help="predicate on partition or clustering columns")
    optimize.add_argument(
        "--full", action="store_true", help="take files of other columns or curves too"
    )
    optimize.add_argument("--curve", choices=CURVES)
    optimize.add_argument(
        "--weights", type=_weights, metavar="COLUMN=NUMBER,…", help="with --curve kdtree: x=3,y=1"
    )
    optimize.add_argument("--merge-policy", choices=("leveled", "all"))
    for option, text in (
        ("--max-bytes", "rewrite at most so many bytes now, such as 10g"),
        ("--max-duration", "begin no cube after so long, such as 30min"),
        ("--min-cube-size", "a ZCube of that size is stable"),
        ("--target-cube-size", "what a ZCube is filled to"),
        ("--max-file-size", "size of the files to write"),
    ):
        optimize.add_argument(option, metavar=option.rsplit("-", 1)[-1].upper(), help=text)
    optimize.add_argument("--master", help="Spark master (default: Spark's own)")
    optimize.add_argument("--remote", help="Spark Connect server, sc://host:port")
    optimize.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", type=_setting, help="for Spark"
    )
    optimize.add_argument("--json", action="store_true", help="print the result as JSON")
    optimize.set_defaults(run=_optimize)
    return parser


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

    return run(options.output, options.scale)


def _optimize(options: argparse.Namespace) -> int:
    from pyspark.sql import SparkSession

    from zcube.session import configure
    from zcube.table import ClusteredTable

    builder = SparkSession.builder.appName("zcube optimize")
    if options.master:
        builder = builder.master(options.master)
    if options.remote:
        builder = builder.remote(options.remote)
    for key, value in options.conf:
        builder = builder.config(key, value)
    spark = configure(builder).getOrCreate()
    try:
        find = ClusteredTable.for_name if options.name else ClusteredTable.for_path
        result = find(spark, options.table).optimize(
            zorder_by=options.zorder_by.split(",") if options.zorder_by else None,
            where=options.where,
            full=options.full,
            curve=options.curve,
            weights=options.weights,
            merge_policy=options.merge_policy,
            max_bytes=options.max_bytes,
            max_duration=options.max_duration,
            min_cube_size=options.min_cube_size,
            target_cube_size=options.target_cube_size,
            max_file_size=options.max_file_size,
        )
        print(json.dumps(result.to_dict(), default=str) if options.json else result)
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
