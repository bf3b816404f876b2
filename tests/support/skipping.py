"""How many files a predicate must read: from the log's statistics, and as Spark does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tests.support.log_replay import LiveFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Predicate = Callable[[LiveFile], bool]
"""Whether a file may hold a row that satisfies the predicate."""


def between(column: str, low: Any, high: Any) -> Predicate:
    """``low <= column <= high``. Values are as JSON has them: dates are ISO text."""

    def may_match(file: LiveFile) -> bool:
        if file.rows is not None and file.null_count.get(column) == file.rows:
            return False
        if column not in file.minimum or column not in file.maximum:
            return True
        return bool(file.minimum[column] <= high and file.maximum[column] >= low)

    return may_match


def equal_to(column: str, value: Any) -> Predicate:
    """``column = value``."""
    return between(column, value, value)


def all_of(*predicates: Predicate) -> Predicate:
    """The conjunction."""
    return lambda file: all(predicate(file) for predicate in predicates)


def any_of(*predicates: Predicate) -> Predicate:
    """The disjunction."""
    return lambda file: any(predicate(file) for predicate in predicates)


def must_read(files: Iterable[LiveFile], predicate: Predicate) -> list[LiveFile]:
    """The files that no statistics rule out."""
    return [file for file in files if predicate(file)]


def files_scanned(df: DataFrame) -> set[str]:
    """The names of the files that Spark's own scan reads, after Delta has skipped what it can."""
    return {path.rsplit("/", 1)[-1] for path in df.inputFiles()}
