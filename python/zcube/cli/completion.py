"""The command ``zcube completion``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from zcube.cli.arguments import Commands
from zcube.cli.output import show
from zcube.errors import ZCubeError

_SHELLS = ("bash", "zsh", "tcsh")


def add(commands: Commands) -> None:
    """Add the command, which completes everything that the parser knows so far."""
    command = commands.add(
        "completion",
        "print a script that lets a shell complete commands and options",
        "zcube completion bash > ~/.local/share/bash-completion/completions/zcube",
    )
    command.add_argument("shell", choices=_SHELLS)
    command.set_defaults(run=lambda options: _print(commands.parser, options.shell))


def _print(parser: argparse.ArgumentParser, shell: str) -> int:
    try:
        import shtab
    except ImportError as error:
        raise ZCubeError("Completion needs shtab: pip install 'zcube[completion]'.") from error
    for action in _actions(parser):
        if action.dest in ("table", "output"):
            action.complete = shtab.FILE if action.metavar == "FILE" else shtab.DIR  # type: ignore[attr-defined]
    show(shtab.complete(parser, shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action
