"""Statistics of a table's files, from the JSON text in its log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from zcube._log import types
from zcube._log.actions import LoggedFile, NotServedError
from zcube._log.column import LogColumn
from zcube._log.quality import FileRanges
from zcube._log.schema import columns_with_minimum, fields_of

# Parsed statistics of this many files are kept: those of 30 columns take 11 KB per file.
_MAX_KEPT = 20_000


class LogStatistics:
    """Minima, maxima and counts of a table's files.

    Args:
        files: the add actions.
        schema: Delta's.
        partitions: the partition columns.
        table: what errors call it.
    """

    def __init__(
        self, files: Sequence[LoggedFile], schema: Any, partitions: Sequence[str], table: str
    ) -> None:
        self._schema = schema
        self._partitions = partitions
        self._table = table
        self._files = files
        # Of many files, parsed statistics would take ten times the memory of their text.
        self._kept = list(self._parse()) if len(files) <= _MAX_KEPT else None

    def _parsed(self) -> Iterable[dict[str, Any]]:
        """Return each file's statistics; empty where it has none."""
        return self._parse() if self._kept is None else self._kept

    def _parse(self) -> Iterator[dict[str, Any]]:
        try:
            for file in self._files:
                # As Delta reads JSON: a number that a double can't hold may still be a DECIMAL.
                found = json.loads(file.statistics, parse_float=Decimal) if file.statistics else {}
                if not isinstance(found, dict):
                    raise ValueError(f"{found} is not an object")
                yield found
        except (ValueError, ArithmeticError, RecursionError) as error:
            raise NotServedError(f"malformed statistics: {error}") from error

    def find(self, parts: Sequence[str], *, exact: bool = False) -> LogColumn:
        """Return the first column of that name, ignoring case, as Spark does.

        Raises:
            ColumnNotFoundError: there is none.
            NotServedError: it is a partition column, or of a type that only Spark compares.
        """
        fields = fields_of(self._schema, parts, self._table, exact=exact)
        if any(field.get("metadata", {}).get("__COLLATIONS") for field in fields):
            raise NotServedError("a collated column")
        found, within = [field["name"] for field in fields], fields[-1]["type"]
        if found[0] in self._partitions:
            raise NotServedError("a partition column")
        if not isinstance(within, str):
            raise NotServedError(f"{'.'.join(found)} is not a single value")
        column_type = types.find(within)
        if column_type is None:
            raise NotServedError(f"a column of type {within}")
        return LogColumn(tuple(found), column_type)

    def columns_with_minimum(self) -> list[str]:
        """Return the columns of which Delta keeps minima by default."""
        return columns_with_minimum(self._schema, self._partitions)

    def ranges(self, column: LogColumn) -> tuple[FileRanges, str]:
        """Return the files' intervals in a column, and notes about them."""
        low, high = self._ends(column)
        only_nulls = np.array(
            [
                a is None and b is None and nulls is not None and nulls == stats.get("numRecords")
                for a, b, nulls, stats in zip(
                    low, high, self._given("nullCount", column), self._parsed(), strict=True
                )
            ],
            np.bool_,
        )
        no_low = np.array([value is None for value in low], np.bool_)
        no_high = np.array([value is None for value in high], np.bool_)
        given = ~no_low & ~no_high
        ranges = FileRanges.of(column.type.keys(low), column.type.keys(high), given, only_nulls)
        counts = [
            (int((no_low & ~only_nulls).sum()), "have no minimum"),
            (int((~no_low & no_high).sum()), "have no maximum"),
            (int((given & ~ranges.known).sum()), "have a maximum below their minimum"),
            (int(only_nulls.sum()), "hold only NULLs and overlap nothing"),
        ]
        files = f"of {len(given)} files"
        notes = [f"{column.name}: {count} {files} {what}" for count, what in counts if count]
        return ranges, "; ".join(notes)

    def numbers(self, column: LogColumn) -> list[tuple[Any, Any]]:
        """Return minima and maxima in the units of an axis."""
        low, high = (
            [None if value is None else column.type.position(value) for value in values]
            for values in self._ends(column)
        )
        return list(zip(low, high, strict=True))

    def _ends(self, column: LogColumn) -> tuple[list[Any], list[Any]]:
        low, high = (
            [None if value is None else column.read(value) for value in self._given(part, column)]
            for part in ("minValues", "maxValues")
        )
        return low, high

    def _given(self, part: str, column: LogColumn) -> list[Any]:
        """Return the files' values of a statistic, None where they have none."""
        found = []
        for stats in self._parsed():
            value = stats.get(part)
            for name in column.parts:
                if value is not None and not isinstance(value, dict):
                    raise NotServedError(f"odd statistics of {column.name}")
                value = None if value is None else value.get(name)
            found.append(value)
        return found
