"""Pictures of how a table is laid out.

Each function returns a matplotlib ``Figure``: notebooks show it, and
``figure.savefig("picture.png")`` writes it. matplotlib comes with ``pip install 'zcube[plots]'``.
The palette is Okabe and Ito's, which is colour-blind safe.

>>> from zcube import plots
>>> plots.boxes(table, "x", "y", predicate="x = 5").savefig("boxes.png")  # doctest: +SKIP
>>> plots.depth_histogram(table.quality())  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from zcube._log.files import mark
from zcube._log.protocol import log_of
from zcube._sql.arguments import predicate_text
from zcube.errors import ZCubeError
from zcube.plots.versions import measure
from zcube.results.quality import ClusteringQuality

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zcube._log.protocol import TableLog
    from zcube.table import ClusteredTable


def boxes(
    table: ClusteredTable | TableLog, x: str, y: str, *, predicate: str | None = None
) -> Figure:
    """Draw each file as the rectangle between its minima and maxima in two columns.

    Well clustered files tile the plane; a query for a point where files overlap must read all of
    them. The rectangles come from the statistics in Delta's log; no data is read. Strings are drawn
    in their order, at equal distances. Above 20,000 files only some are drawn, of those that must
    be read and of the others, and the title says so.

    Args:
        table: a Delta table in a classic session; Spark Connect can't show the log.
        x: the horizontal column; ``"a.b"`` is a nested field.
        y: the vertical column.
        predicate: as after WHERE; files that a scan with it must read are blue, the rest grey.

    Raises:
        ZCubeError: matplotlib is missing, a column is unknown or has no minimum, or the session
            uses Spark Connect.

    Examples:
        >>> plots.boxes(table, "day", "user", predicate="user < 9")  # doctest: +SKIP
    """
    matplotlib_chart()
    from zcube.plots import file_boxes

    log = log_of(table)
    axes, files = file_boxes.of_table(log, x, y)
    read = [True] * len(files)
    if predicate is not None:
        read = mark(files, log.files_read(predicate_text(predicate)))
    return file_boxes.picture(axes, files, read, predicate)


def curve_order(table: ClusteredTable | TableLog, x: str, y: str) -> Figure:
    """Draw the path along which each ZCube's files were laid out, over two columns.

    A Hilbert curve appears as a path without jumps, a Z-order as a path of Zs. Lines connect the
    centres of neighbouring files, and a mark shows the first file of a cube. Each of the six
    largest cubes has its own colour; all other files are grey without a line. Above 20,000 files
    lines join only some, evenly chosen, and the title says so. No data is read.

    Args:
        table: a Delta table in a classic session; Spark Connect can't show the log.
        x: the horizontal column; ``"a.b"`` is a nested field.
        y: the vertical column.

    Raises:
        ZCubeError: as for ``boxes``, or no file belongs to a ZCube.

    Examples:
        >>> plots.curve_order(table, "l_shipdate", "l_partkey")  # doctest: +SKIP
    """
    matplotlib_chart()
    from zcube.plots import curve_path, file_boxes

    return curve_path.picture(*file_boxes.of_table(log_of(table), x, y))


def depth_histogram(quality: ClusteringQuality) -> Figure:
    """Draw how many files have which depth: a panel for each column, and one for all together.

    A file's depth is the number of files that cover its deepest point, itself included; for all
    columns together, the lower corner of its box is used. 1 is best; the dashed line is the
    average. Of more than eight columns, the deepest are drawn, and the title says so.

    Args:
        quality: what ``table.quality()`` returned.

    Raises:
        ZCubeError: matplotlib is missing, or this isn't a quality.
    """
    matplotlib_chart()
    if not isinstance(quality, ClusteringQuality):
        raise ZCubeError(f"depth_histogram draws what quality() returned, not {quality!r}.")
    from zcube.plots import depths

    return depths.picture(quality)


def history(
    table: ClusteredTable | TableLog, columns: Sequence[str] | None = None, *, versions: int = 12
) -> Figure:
    """Draw quality over the table's versions, from the log alone; no data is read.

    The upper panel shows how many files overlap, the lower one the share of files that a search
    skips. Of more than five columns, the deepest are drawn, and the title says so. Dotted lines
    mark OPTIMIZE commits.

    Args:
        table: a Delta table whose older versions are still readable.
        columns: as ``quality`` takes them; by default the table's own.
        versions: how many to measure at most, including the oldest and the newest; each takes as
            long as one ``quality()``. Versions that are no longer readable are left out.

    Raises:
        ZCubeError: matplotlib is missing, ``versions`` is under 2, or the log has only a
            checkpoint and no commits.
        AnalysisException: not even the newest version can be measured.

    Examples:
        >>> plots.history(table, ["x", "y"], versions=20)  # doctest: +SKIP
    """
    matplotlib_chart()
    if isinstance(versions, bool) or not isinstance(versions, int) or versions < 2:
        raise ZCubeError(f"versions must be an int of at least 2, not {versions!r}.")
    from zcube.plots import timeline

    return timeline.picture(*measure(log_of(table), columns, versions))


def matplotlib_chart() -> ModuleType:
    """Return the chart module, which needs matplotlib.

    Raises:
        ZCubeError: it isn't installed.
    """
    try:
        from zcube.plots import chart
    except ImportError as error:
        raise ZCubeError("Plots need matplotlib: pip install 'zcube[plots]'.") from error
    return chart
