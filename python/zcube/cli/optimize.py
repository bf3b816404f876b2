"""The commands ``zcube optimize`` and ``zcube plan``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from zcube._sql.arguments import CURVES, MERGE_POLICIES
from zcube._sql.workload import read_workload
from zcube.cli import arguments
from zcube.cli.arguments import Commands, open_table


def add(commands: Commands) -> None:
    """Add both commands."""
    optimize = commands.add_for_table(
        "optimize",
        "cluster a table",
        "zcube optimize /data/events --zorder-by x,y --where \"day = '2026-01-01'\"; "
        "zcube optimize --name events --max-bytes 50g  # a clustered table",
    )
    _add_options(optimize)
    optimize.set_defaults(run=_optimize)

    plan = commands.add_for_table(
        "plan",
        "show what optimize would do; write nothing",
        "zcube plan /data/events --zorder-by x,y --max-bytes 10g",
    )
    _add_options(plan)
    plan.add_argument(
        "--forecast", action="store_true", help="predict depth and skipping; reads a sample"
    )
    plan.set_defaults(run=_plan)


def _add_options(command: argparse.ArgumentParser) -> None:
    arguments.list_columns(
        command, "--zorder-by", "x,y; not for clustered tables, which define their own"
    )
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
        "--weights",
        type=arguments.weights,
        metavar="COLUMN=NUMBER,…",
        help="with --curve kdtree: x=3,y=1",
    )
    command.add_argument(
        "--workload",
        metavar="FILE",
        help="with --curve kdtree: predicates, one per line, optionally as 'weight | predicate'; "
        "files are cut so that these skip most",
    )
    command.add_argument("--merge-policy", choices=MERGE_POLICIES)
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


def _optimize(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with open_table(options) as table:
        result = table.optimize(**how)
        print(json.dumps(result.to_dict(), default=str) if options.json else result)
    return 0


def _plan(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with open_table(options) as table:
        plan = table.optimize(**how, dry_run=True, forecast=options.forecast)
        print(json.dumps(plan.to_dict()) if options.json else plan)
    return 0
