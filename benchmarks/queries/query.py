"""A query of the benchmark: its text, and what it asks of single tables."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Comparison:
    """A column compared with constants.

    Attributes:
        column: its name.
        operator: ``=``, ``>``, ``>=``, ``<``, ``between`` (both ends included) or ``in``.
        value: the constant; for ``between`` and ``in`` several.
    """

    column: str
    operator: str
    value: Any

    def sql(self) -> str:
        """The comparison in SQL."""
        if self.operator == "between":
            low, high = self.value
            return f"{self.column} BETWEEN {_literal(low)} AND {_literal(high)}"
        if self.operator == "in":
            return f"{self.column} IN ({', '.join(_literal(each) for each in self.value)})"
        return f"{self.column} {self.operator} {_literal(self.value)}"

    def expression(self, schema: pa.Schema) -> pc.Expression:
        """The comparison as PyArrow's filter."""
        kind = schema.field(self.column).type
        name = pc.field(self.column)

        def constant(value: Any) -> pa.Scalar:
            # PyArrow casts no number to a decimal of fewer digits.
            exact = pa.types.is_decimal(kind)
            return pa.scalar(Decimal(str(value)), kind) if exact else pa.scalar(value).cast(kind)

        if self.operator == "between":
            low, high = (constant(end) for end in self.value)
            return (name >= low) & (name <= high)
        if self.operator == "in":
            return functools.reduce(operator.or_, (name == constant(each) for each in self.value))
        return _OPERATORS[self.operator](name, constant(self.value))


_OPERATORS = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Query:
    """A query.

    Attributes:
        name: as in the results.
        sql: its text, with plain table names.
        predicates: by table, what the query compares with constants there. They are the workload.
        table: the only table of the query, if its condition is ``where``.
        where: that condition; all comparisons must hold.
    """

    name: str
    sql: str
    predicates: Mapping[str, str] = field(default_factory=dict)
    table: str | None = None
    where: tuple[Comparison, ...] = ()

    def expression(self, schema: pa.Schema) -> pc.Expression:
        """The whole condition as PyArrow's filter."""
        return functools.reduce(operator.and_, (side.expression(schema) for side in self.where))


def filtered(
    name: str, table: str, select: str, where: tuple[Comparison, ...], rest: str = ""
) -> Query:
    """A query of a single table.

    Args:
        name: as in the results.
        table: the table.
        select: what it returns.
        where: its condition.
        rest: what follows the condition.
    """
    condition = " AND ".join(side.sql() for side in where)
    sql = f"SELECT {select} FROM {table} WHERE {condition} {rest}".rstrip()
    return Query(name, sql, {table: condition}, table, where)


def _literal(value: Any) -> str:
    # A datetime is a date too.
    if isinstance(value, datetime):
        return f"timestamp '{value:%Y-%m-%d %H:%M:%S}'"
    if isinstance(value, date):
        return f"date '{value:%Y-%m-%d}'"
    return f"'{value}'" if isinstance(value, str) else str(value)
