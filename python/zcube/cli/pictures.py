"""The commands ``zcube plot`` and ``zcube report``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zcube.cli import engine
from zcube.cli.arguments import Commands, list_columns
from zcube.cli.output import note, show
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from zcube._log.protocol import TableLog

_FORMATS = (".png", ".svg", ".pdf")


def add(commands: Commands) -> None:
    """Add both commands."""
    plot = commands.add_for_table(
        "plot",
        "draw how a table is laid out",
        'zcube plot /data/events --by x,y -o boxes.png --predicate "x = 5"; '
        "zcube plot /data/events --kind depth -o depth.svg",
    )
    plot.add_argument(
        "--kind",
        choices=("boxes", "curve", "depth", "history"),
        default="boxes",
        help="the files' boxes over two columns (the default), the path of the curve through them, "
        "how many files overlap, or quality over the table's versions",
    )
    plot.set_defaults(run=_plot)
    report = commands.add_for_table(
        "report",
        "write one HTML page with figures and pictures",
        "zcube report /data/events --by x,y -o report.html",
    )
    report.set_defaults(run=_report)
    for command, example in ((plot, "picture.png, .svg or .pdf"), (report, "report.html")):
        engine.add(command)
        list_columns(command, "--by", "x,y (default: the table's own)")
        command.add_argument("-o", "--output", required=True, metavar="FILE", help=example)
        command.add_argument("--predicate", help="highlight the boxes that it must read: x > 5")


def _plot(options: argparse.Namespace) -> int:
    from zcube import plots

    plots.matplotlib_chart()
    output = _writable(options.output)
    if output.suffix.lower() not in _FORMATS:
        raise ZCubeError(f"{output} must end with {', '.join(_FORMATS)}.")
    by = options.by
    if options.kind in ("boxes", "curve") and by is not None and len(by) != 2:
        raise ZCubeError("Boxes and curves are drawn over two columns: --by x,y.")
    if options.kind != "boxes" and options.predicate is not None:
        raise ZCubeError("--predicate is for --kind boxes.")

    columns: list[str] = []

    def draw(log: TableLog) -> Any:
        if options.kind == "depth":
            return plots.depth_histogram(log.quality(columns=by))
        if options.kind == "history":
            return plots.history(log, by)
        own = by or [column.column for column in log.quality().columns]
        if len(own) < 2:
            raise ZCubeError("The table is clustered by one column. Name two: --by x,y.")
        columns[:] = own
        if options.kind == "curve":
            return plots.curve_order(log, own[0], own[1])
        return plots.boxes(log, own[0], own[1], predicate=options.predicate)

    figure = engine.read(options, draw)
    if len(columns) > 2:
        note(
            f"drawn over {columns[0]} and {columns[1]}, the first of the table's columns "
            f"{', '.join(columns)}; --by chooses others"
        )
    return _written(options, output, lambda: figure.savefig(output, dpi=120))


def _report(options: argparse.Namespace) -> int:
    from zcube import plots, report

    plots.matplotlib_chart()
    output = _writable(options.output)
    if output.suffix.lower() in _FORMATS:
        raise ZCubeError(f"A report is a page, not a picture: {output} must end with .html.")
    by = options.by
    # Unless the log must do, Spark draws all versions.
    missing: dict[int, str] | None = {} if options.engine == "log" else None
    text = engine.read(
        options,
        lambda log: report.page(log, by, predicate=options.predicate, missing=missing),
    )
    for version, reason in sorted((missing or {}).items()):
        note(f"the report doesn't show version {version}, which needs --engine spark: {reason}")
    return _written(options, output, lambda: output.write_text(text, encoding="utf-8"))


def _writable(name: str) -> Path:
    """Return the file's path; check it before Spark starts, which takes a while.

    Raises:
        ZCubeError: it can't be written.
    """
    output = Path(name)
    try:
        if not output.parent.is_dir():
            raise ZCubeError(f"There is no folder {output.parent} to write {output.name} to.")
        if output.is_dir():
            raise ZCubeError(f"{output} is a folder. Name a file.")
        # A pipe's reader would take the end of this attempt for the end of the picture.
        if output.is_file():
            output.open("ab").close()
        elif not output.exists():
            # A link that leads nowhere yet stays; what it leads to was made here.
            target = output.resolve()
            target.open("xb").close()
            target.unlink()
    except (OSError, RuntimeError) as error:  # links in a circle are a RuntimeError before 3.13
        why = getattr(error, "strerror", None) or error
        raise ZCubeError(f"{output} can't be written: {why}.") from error
    return output


def _written(options: argparse.Namespace, output: Path, write: Callable[[], object]) -> int:
    try:
        write()
    except OSError as error:
        raise ZCubeError(f"{output} can't be written: {error}.") from error
    show(json.dumps({"output": str(output)}) if options.json else f"written: {output}")
    return 0
