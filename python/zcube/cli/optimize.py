"""The commands ``zcube optimize`` and ``zcube plan``.

Their options are the arguments of ``ClusteredTable.optimize``, with the first sentence of its
docstring about each as help.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from typing import Any

from zcube._sql.arguments import CURVES, MERGE_POLICIES
from zcube._sql.workload import read_workload
from zcube.cli import arguments
from zcube.cli.arguments import Commands, open_table
from zcube.cli.output import note, show
from zcube.errors import ZCubeError
from zcube.table import ClusteredTable

_CHOICES = {"curve": CURVES, "merge_policy": MERGE_POLICIES}
# A dry run is a command of its own; the others are for programs and notebooks.
_NO_OPTIONS = ("self", "dry_run", "forecast", "measure", "progress")


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
    texts = _help()
    for name, kind in _keywords().items():
        option, text = _option(name), texts.get(name, "").replace("%", "%%")
        if kind == "bool":
            command.add_argument(option, action="store_true", help=text)
        elif kind.startswith("Sequence[str]"):
            arguments.list_columns(command, option, text)
        elif kind.startswith("Mapping[str, float]"):
            pairs = "COLUMN=NUMBER,…"
            command.add_argument(option, type=arguments.weights, metavar=pairs, help=text)
        elif kind.startswith("Workload"):
            text = f"{text}; a line of FILE is a predicate, or 'weight | predicate'".lstrip("; ")
            command.add_argument(option, metavar="FILE", help=text)
        elif name in _CHOICES:
            command.add_argument(option, choices=_CHOICES[name], help=text)
        else:
            command.add_argument(option, metavar=name.rsplit("_", 1)[-1].upper(), help=text)


def _keywords() -> dict[str, str]:
    """The arguments of ``ClusteredTable.optimize`` that are options here, with their types."""
    arguments = inspect.signature(ClusteredTable.optimize).parameters.values()
    keywords = {argument.name: argument.annotation for argument in arguments}
    return {name: kind for name, kind in keywords.items() if name not in _NO_OPTIONS}


def _help() -> dict[str, str]:
    """What the docstring of ``ClusteredTable.optimize`` says first of each argument.

    Empty under ``python -OO``, which drops docstrings.
    """
    lines = inspect.getdoc(ClusteredTable.optimize) or ""
    arguments = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", lines, re.MULTILINE)
    return {name: _first_sentence(text) for name, text in arguments}


def _first_sentence(text: str) -> str:
    sentence = re.split(r"\.(?: |$)", " ".join(text.split()), maxsplit=1)[0]
    for name in _keywords():
        sentence = sentence.replace(f"``{name}``", _option(name))
    return sentence.replace("``", "")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _how_to_optimize(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in _keywords()}
    if given["workload"] is not None:
        given["workload"] = read_workload(given["workload"])
    return given


def _optimize(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with open_table(options) as table:
        result = table.optimize(**how)
        try:
            show(json.dumps(result.to_dict(), default=str) if options.json else result)
        except ZCubeError as error:
            # The run is committed. With another code, a scheduler would repeat it.
            note(f"{error} The run itself is complete.")
    return 0


def _plan(options: argparse.Namespace) -> int:
    how = _how_to_optimize(options)
    with open_table(options) as table:
        plan = table.optimize(**how, dry_run=True, forecast=options.forecast)
        show(json.dumps(plan.to_dict()) if options.json else plan)
    return 0
