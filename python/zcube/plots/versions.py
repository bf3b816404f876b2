"""Quality of older versions of a table."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zcube._log.actions import LostVersionError, NotServedError
from zcube.errors import ColumnNotFoundError, ZCubeError
from zcube.results.quality import ClusteringQuality

if TYPE_CHECKING:
    from zcube._log.protocol import TableLog


def measure(
    log: TableLog,
    columns: Sequence[str] | None,
    count: int,
    missing: dict[int, str] | None = None,
    commits: Sequence[Mapping[str, Any]] | None = None,
) -> tuple[dict[int, ClusteringQuality], list[int]]:
    """Measure at most ``count`` versions; return them, and the versions that OPTIMIZE committed.

    Args:
        log: a Delta table's.
        columns: as ``quality`` takes them.
        count: how many versions.
        missing: gets the versions that only Spark can measure, and why.
        commits: those to choose from, as the log returned them; by default all.

    Raises:
        ZCubeError: the log has no commits, only a checkpoint.
        AnalysisException: not even the newest version can be measured.
        NotServedError: only Spark can measure some of the versions, and ``missing`` is None, or
            one of them is the newest.
    """
    if commits is None:
        commits = log.commits()
    if not commits:
        raise ZCubeError(
            f"The log of {log.name} has a checkpoint but no commits, so there is no history to "
            "draw."
        )
    chosen = spread(sorted(row["version"] for row in commits), count)
    if columns is None:
        # An older version may have had other columns, or none.
        columns = [column.column for column in log.quality().columns]
    found: dict[int, ClusteringQuality] = {}
    then = log
    for version in reversed(chosen):
        try:
            # A version knows its folder; with Spark, the log itself has to ask for it.
            then = then.at(version)
            found[version] = then.quality(columns=columns)
        except _unmeasurable():
            if not found:
                raise
            # Its log is gone, or a column was added later; the same holds for all older versions.
            break
        except NotServedError as error:
            if missing is None or version == chosen[-1]:
                raise NotServedError(f"version {version}: {error}") from error
            missing[version] = str(error)
    optimized = [row["version"] for row in commits if row["operation"] == "OPTIMIZE"]
    return found, sorted(version for version in optimized if version >= min(found))


def _unmeasurable() -> tuple[type[Exception], ...]:
    """Return the errors of versions that can't be measured. PySpark isn't loaded for its own."""
    errors = (LostVersionError, ColumnNotFoundError)
    if "pyspark" not in sys.modules:
        return errors
    from pyspark.errors import AnalysisException

    return (*errors, AnalysisException)


def spread(versions: Sequence[int], count: int) -> list[int]:
    """Choose ``count`` values at equal distances, including the first and the last.

    Examples:
        >>> spread(range(11), 3), spread([4, 7], 5)
        ([0, 5, 10], [4, 7])
    """
    steps = min(count, len(versions)) - 1
    last = len(versions) - 1
    return [versions[last * step // steps] for step in range(steps + 1)] if steps else [*versions]
