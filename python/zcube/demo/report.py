"""The demo's tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from zcube.demo.queries import Reading
from zcube.demo.runs import Run

console = Console()


def show_readings(panels: Mapping[str, Mapping[str, Reading]]) -> None:
    """Show files and bytes to read, one row for each query, one column for each layout."""
    table = Table(title="What must be read: files / bytes", title_justify="left")
    table.add_column("query", no_wrap=True)
    for title in panels:
        table.add_column(title, justify="right")
    for query in next(iter(panels.values())):
        cells = (panel[query] for panel in panels.values())
        table.add_row(query, *(f"{r.files:2d} / {r.size / 2**20:3.0f} MiB" for r in cells))
    console.print(table)


def show_runs(runs: Mapping[str, Run]) -> None:
    """Show what each OPTIMIZE cost."""
    table = Table(title="What it cost", title_justify="left")
    for title in ("OPTIMIZE by", "seconds", "CPU seconds", "passes over the input", "files"):
        table.add_column(title, justify="left" if title == "OPTIMIZE by" else "right")
    for title, run in runs.items():
        table.add_row(title, f"{run.wall:.1f}", f"{run.cpu:.1f}", str(run.passes), str(run.files))
    console.print(table)
