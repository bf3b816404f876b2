"""A self-contained HTML report about a table."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from zcube import plots
from zcube._log import unclustered
from zcube._log.protocol import log_of
from zcube._sql.arguments import predicate_text
from zcube._version import __version__
from zcube.errors import ZCubeError
from zcube.results import formatting

if TYPE_CHECKING:
    from zcube._log.cubes import LoggedCube
    from zcube._log.files import Axis, FileBounds
    from zcube._log.protocol import TableLog
    from zcube.results.quality import ClusteringQuality
    from zcube.table import ClusteredTable

_MAX_PICTURES, _MAX_ROWS, _MAX_COMMITS, _MAX_VERSIONS = 3, 20, 1000, 12
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff;
       max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; height: auto; }
.about { color: #555; }
"""


def page(
    table: ClusteredTable | TableLog,
    columns: Sequence[str] | None = None,
    *,
    predicate: str | None = None,
    missing: dict[int, str] | None = None,
) -> str:
    """Write a report of how well a table is clustered, as one self-contained HTML page.

    It shows quality by column, the files' boxes and depths, quality over the versions, cubes, files
    without statistics, and recent OPTIMIZE runs, as far back as the log goes, but at most 1,000
    commits. Pictures are embedded; there is no script, and nothing is loaded from the network. Only
    the log is read, no data. Over Spark Connect, the boxes, the cubes and the list of files are
    left out, and the page says so.

    Args:
        table: a Delta table.
        columns: as ``quality`` takes them; by default the table's own or, if it has none, those
            with statistics.
        predicate: as after WHERE; the boxes show which files a scan with it must read.
        missing: where the log is read without Spark, gets the older versions that can't be measured
            so, and why. The page leaves them out and says so; without this dict, they are an error.

    Raises:
        ZCubeError: matplotlib is missing, a column is unknown, or there is a predicate over Spark
            Connect, or without two columns to draw boxes over.
        AnalysisException: as ``quality`` raises it.

    Examples:
        >>> Path("report.html").write_text(report.page(table, ["x", "y"]))  # doctest: +SKIP
    """
    plots.matplotlib_chart()
    log = log_of(table)
    if predicate is not None and log.over_connect:
        raise ZCubeError(
            "A report with a predicate needs file boxes, which aren't available over Spark "
            "Connect. Leave the predicate out, or report in a classic session."
        )
    if predicate is not None:
        predicate_text(predicate)
    history = log.commits(_MAX_COMMITS)
    quality, own = unclustered.quality_by_any(log, columns)
    names = [column.column for column in quality.columns]
    sections = [_section("Quality", _quality(quality))]
    files: list[FileBounds] = []
    if log.over_connect:
        sections.append("<p>Boxes, cubes and files can't be shown over Spark Connect.</p>")
    else:
        axes, files = log.files(names)
        kinds = dict(zip(names, axes, strict=True))
        sections.append(_section("Files", _boxes(log, kinds, predicate)))
    depths = plots.depth_histogram(quality)
    sections.append(_section("Depth", _image(depths, "Histograms of the files' depths")))
    if len(history) > 1:
        sections.append(_section("Versions", _versions(log, names, missing, history)))
    if not log.over_connect:
        cubes = log.cubes()
        sections.append(_section("ZCubes", _cubes(cubes, quality.bytes)))
        sections.append(_section("Files without statistics", _without(files, names)))
    if history:
        sections.append(_section("OPTIMIZE", _runs(history)))
    about = _about(log, history, names)
    if not own:
        about += f" {unclustered.NOTE}"
    return _document(log.name.strip("'"), about, sections)


def _about(log: TableLog, history: Sequence[Any], columns: Sequence[str]) -> str:
    """Say what the page shows, and what it doesn't."""
    known = f"by {', '.join(columns)}. From the log alone; no data was read. ZCube {__version__}."
    if not history:
        version = "The newest version" if log.version is None else f"Version {log.version}"
        return (
            f"{version}, {known} The log has a checkpoint but no commits, so there "
            "is no history to show."
        )
    first = history[0]
    text = f"Version {first['version']} of {formatting.moment(first['timestamp'])}, {known}"
    # Each part reads the newest version.
    last = (log.commits(1) or history)[0]["version"]
    if last != first["version"]:
        text += (
            f" The table changed meanwhile, up to version {last}: parts of this page may show "
            "different versions."
        )
    return text


def _document(table: str, about: str, sections: Sequence[str]) -> str:
    name = html.escape(table)
    # The policy forbids loading and running anything, which the page doesn't do anyway.
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>How well {name} is clustered</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>How well {name} is clustered</h1>\n<p class="about">{html.escape(about)}</p>\n'
        + "\n".join(sections)
        + "\n</body>\n</html>\n"
    )


def _section(title: str, body: str) -> str:
    return f"<section>\n<h2>{html.escape(title)}</h2>\n{body}\n</section>"


def _quality(quality: ClusteringQuality) -> str:
    return (
        quality._repr_html_()
        + '<p class="about">Depth: how many files cover a file\'s deepest point, itself '
        "included; in *, the lower corner of its box. 1 is best. Overlaps: the other files "
        "that overlap it. Skipping: the share of files that a search for one value skips.</p>"
    )


def _boxes(log: TableLog, columns: Mapping[str, Axis], predicate: str | None) -> str:
    """Draw the pairs of columns that have minima, and name the other columns."""
    drawable = [name for name, axis in columns.items() if axis.kind != "none"]
    if predicate is not None and len(drawable) < 2:
        raise ZCubeError(
            "A predicate is shown by boxes, which need two columns with a minimum and a maximum. "
            "Report by such columns, or leave the predicate out."
        )
    if len(columns) < 2:
        return "<p>Boxes need two columns; this report is by one.</p>"
    bare = [f"{name} is {axis.type}" for name, axis in columns.items() if axis.kind == "none"]
    left_out = (
        f"<p>Not drawn: {html.escape('; '.join(bare))}. Delta keeps no minimum and maximum of such "
        "columns.</p>"
        if bare
        else ""
    )
    pairs = list(combinations(drawable, 2))
    if not pairs:
        return f"<p>Boxes need two columns with a minimum and a maximum.</p>{left_out}"
    images = [
        _image(plots.boxes(log, x, y, predicate=predicate), f"The files over {x} and {y}")
        for x, y in pairs[:_MAX_PICTURES]
    ]
    more = len(pairs) - len(images)
    return (
        "\n".join(images)
        + (f"<p>{more} more pairs of columns aren't shown.</p>" if more else "")
        + left_out
    )


def _versions(
    log: TableLog,
    columns: Sequence[str],
    missing: dict[int, str] | None,
    history: Sequence[Mapping[str, Any]],
) -> str:
    from zcube.plots import timeline, versions

    measured = versions.measure(log, columns, _MAX_VERSIONS, missing, history)
    figure = timeline.picture(*measured)
    text = _image(figure, "Quality over the versions")
    if len(history) == _MAX_COMMITS:
        text += f"<p>Of the last {_MAX_COMMITS:,} commits.</p>"
    if missing:
        numbers = ", ".join(str(version) for version in sorted(missing))
        text += f"<p>Not shown, because only Spark can measure them: {numbers}.</p>"
    return text


def _image(figure: Any, text: str) -> str:
    data = base64.b64encode(figure.png()).decode("ascii")
    width = int(100 * figure.get_size_inches()[0])
    return (
        f'<p><img src="data:image/png;base64,{data}" width="{width}" alt="{html.escape(text)}"></p>'
    )


def _cubes(cubes: Sequence[LoggedCube], total: int) -> str:
    if not cubes:
        return "<p>None: this table has not been clustered yet.</p>"
    rows = [
        [
            cube.id,
            ", ".join(cube.columns),
            cube.curve or "–",
            str(cube.files),
            formatting.size(cube.bytes),
            formatting.share(cube.bytes / total if total else None),
        ]
        for cube in cubes[:_MAX_ROWS]
    ]
    titles = ("cube", "columns", "curve", "files", "bytes", "of the table")
    return formatting.html_table(titles, rows) + _left_out(len(cubes))


def _without(files: Sequence[FileBounds], columns: Sequence[str]) -> str:
    missing = sorted(_missing(files, columns), key=lambda row: (-row[0].bytes, row[0].path))
    if not missing:
        return "<p>None: each file has a minimum and a maximum in each column.</p>"
    rows = [
        [file.path, formatting.size(file.bytes), ", ".join(names)]
        for file, names in missing[:_MAX_ROWS]
    ]
    return formatting.html_table(("file", "bytes", "without"), rows) + _left_out(len(missing))


def _missing(
    files: Sequence[FileBounds], columns: Sequence[str]
) -> Iterator[tuple[FileBounds, list[str]]]:
    for file in files:
        names = [name for name, ends in zip(columns, file.ends, strict=True) if ends is None]
        if names:
            yield file, names


def _runs(history: Sequence[Any]) -> str:
    rows = []
    for commit in history:
        if commit["operation"] == "OPTIMIZE":
            metrics = commit["operationMetrics"] or {}
            rows.append(
                [
                    str(commit["version"]),
                    formatting.moment(commit["timestamp"]),
                    metrics.get("numRemovedFiles", "–"),
                    _bytes(metrics.get("numRemovedBytes")),
                    metrics.get("numAddedFiles", "–"),
                    _bytes(metrics.get("numAddedBytes")),
                ]
            )
    if not rows:
        if len(history) == _MAX_COMMITS:
            return f"<p>There is none in the last {_MAX_COMMITS:,} commits.</p>"
        return "<p>There is none, as far back as the log goes.</p>"
    titles = ("version", "time", "files removed", "bytes", "files added", "bytes")
    return formatting.html_table(titles, rows[:_MAX_ROWS]) + _left_out(len(rows))


def _bytes(metric: str | None) -> str:
    return formatting.size(int(metric)) if metric and metric.isdigit() else "–"


def _left_out(count: int) -> str:
    return f"<p>{count - _MAX_ROWS} more aren't shown.</p>" if count > _MAX_ROWS else ""
