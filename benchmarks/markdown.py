"""Writes results as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

WIDTH = 120


def write(file: Path, text: str) -> None:
    """Write a page, with lines of prose wrapped; a table's row or a heading stays one line."""
    file.write_text("".join(f"{wrapped(line)}\n" for line in text.splitlines()))


def wrapped(line: str) -> str:
    if line.startswith(("|", "#")):
        return line
    return textwrap.fill(
        line,
        WIDTH,
        subsequent_indent="  " if line.startswith("- ") else "",
        break_long_words=False,
        break_on_hyphens=False,
    )


def made_by(command: str, about: Mapping[str, object]) -> str:
    """A page's first line: how it is made, and on which machine that was done."""
    return f"Made by `{command}`. {described(about)}."


def described(about: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in about.items())
