"""Error conditions that occur without Spark too.

A test compares the texts with ``zcube-error-conditions.json``, from which Spark takes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """An error condition.

    Attributes:
        name: as in Spark.
        template: the message, with parameters as ``<name>``.
    """

    name: str
    template: str

    def message(self, **parameters: str) -> str:
        """Return the message as Spark begins it; a SQLSTATE would follow."""
        text = re.sub(r"<(\w+)>", lambda found: parameters[found[1]], self.template)
        return f"[{self.name}] {text}"

    def is_of(self, error: Exception) -> bool:
        """Return whether an error has this condition, according to its message."""
        return self.is_in(str(error))

    def is_in(self, message: str) -> bool:
        """Return whether a message is of this condition."""
        return message.startswith(f"[{self.name}]")


COLUMN_NOT_FOUND = Condition(
    "ZCUBE_COLUMN_NOT_FOUND",
    "There is no column <column> in <table>. Name one of its columns, or a field of a nested one: "
    "<known>.",
)
NO_CLUSTERING_COLUMNS = Condition(
    "ZCUBE_NO_CLUSTERING_COLUMNS",
    "The table <table> has no clustering columns, and none of its files records the columns that "
    "it was Z-ordered by. Name the columns: DESCRIBE CLUSTERING … BY (a, b).",
)
