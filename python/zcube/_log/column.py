"""A column in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zcube._log.actions import NotServedError
from zcube._log.schema import quoted
from zcube._log.types import ColumnType


@dataclass(frozen=True)
class LogColumn:
    """A column, or a leaf field of a nested one.

    Attributes:
        parts: of its name, as in the table.
        type: its type.
    """

    parts: tuple[str, ...]
    type: ColumnType

    @property
    def name(self) -> str:
        """The name as one string, with parts quoted where necessary."""
        return quoted(self.parts)

    def read(self, statistic: Any) -> Any:
        """Return the value of a minimum or maximum; leave those in an unexpected form to Spark."""
        try:
            return self.type.read(statistic)
        # A time of year 9999 may be of year 10000 in UTC; an exponent may be huge.
        except (ValueError, ArithmeticError) as error:
            raise NotServedError(
                f"{self.name} has the statistic {statistic!r}, which is not of type "
                f"{self.type.name}"
            ) from error
