"""Checks arguments before Spark sees them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real

from zcube._sql.quoting import folded, name_parts
from zcube.errors import ZCubeError

# As in the jar, LayoutKind and MergePolicy; a test compares them with the reference page.
CURVES = ("linear", "zorder", "hilbert", "kdtree")
MERGE_POLICIES = ("leveled", "all")
_WITH_WEIGHTS = _WITH_WORKLOAD = ("kdtree",)


def column_names(columns: Sequence[str], what: str) -> list[list[str]]:
    """Return each column's name parts.

    Raises:
        ZCubeError: they have no order, there is none or one twice, or a name is not a string.
    """
    if isinstance(columns, str):
        columns = [columns]
    # A set has another order in each process, and another order is another layout.
    wrong = f"{what} needs a list of column names, in their order, not {columns!r}."
    if isinstance(columns, (set, frozenset, Mapping)):
        raise ZCubeError(wrong)
    try:
        columns = list(columns)
    except TypeError as error:
        raise ZCubeError(wrong) from error
    names = []
    for column in columns:
        if not isinstance(column, str):
            raise ZCubeError(f"{what} takes column names as strings, not {type(column).__name__}.")
        names.append(name_parts(column))
    if not names:
        raise ZCubeError(f"{what} needs at least one column.")
    seen: set[tuple[str, ...]] = set()
    for parts in names:
        key = folded(parts)
        if key in seen:
            raise ZCubeError(f"{what} names the column {'.'.join(parts)} twice.")
        seen.add(key)
    return names


def curve_name(curve: str | None) -> str | None:
    """Return the curve's name in lower case.

    Raises:
        ZCubeError: there is no such curve.
    """
    if curve is None:
        return None
    if not isinstance(curve, str) or curve.lower() not in CURVES:
        raise ZCubeError(f"There is no curve {curve!r}. The curves are {', '.join(CURVES)}.")
    return curve.lower()


def checked_weight(weight: object, subject: str) -> float:
    """Return a weight.

    Raises:
        ZCubeError: it is not a number greater than 0.
    """
    number = -1.0
    # True and False are ints to Python; numpy's numbers are Real, too.
    if isinstance(weight, Real) and not isinstance(weight, bool):
        try:
            number = float(weight)
        except OverflowError:
            number = math.inf
    if math.isfinite(number) and number > 0:
        return number
    raise ZCubeError(f"The weight of {subject} must be a number greater than 0, not {weight!r}.")


def column_weights(
    weights: Mapping[str, float] | None, curve: str | None
) -> list[tuple[list[str], float]] | None:
    """Return each named column's parts and weight.

    Raises:
        ZCubeError: a name is malformed or given twice, a weight is not a number greater than 0, or
            the given curve takes no weights.
    """
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        raise ZCubeError(f"weights must be a dict of column names and numbers, not {weights!r}.")
    names = column_names(list(weights), "weights")
    checked = [checked_weight(weight, name) for name, weight in weights.items()]
    _check_taken(curve, "weights", _WITH_WEIGHTS)
    return list(zip(names, checked, strict=True))


def check_takes_workload(curve: str | None) -> None:
    """Check that the curve, if given, supports a workload.

    Raises:
        ZCubeError: it doesn't.
    """
    _check_taken(curve, "workload", _WITH_WORKLOAD)


def _check_taken(curve: str | None, what: str, by: tuple[str, ...]) -> None:
    if curve is not None and curve not in by:
        raise ZCubeError(
            f"The curve {curve} takes no {what}; leave it out, or name {' or '.join(by)}."
        )


def positive(value: int | None, name: str, kind: str = "a positive int") -> int | None:
    """Return the value as an int.

    Raises:
        ZCubeError: it is not a positive int.
    """
    if value is None:
        return None
    # numpy's integers are Integral.
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ZCubeError(f"{name} must be {kind}, not {value!r}.")
    return int(value)


def text(value: str | None, name: str, example: str) -> str | None:
    """Return the value; the example is for the error.

    Raises:
        ZCubeError: it is not a string.
    """
    if value is None or isinstance(value, str):
        return value
    raise ZCubeError(f"{name} must be a string such as {example!r}, not {value!r}.")


def predicate_text(
    value: str, name: str = "The predicate", cure: str = 'Write it as after WHERE: "x > 1".'
) -> str:
    """Return SQL text for a WHERE; the cure is for the error of an empty one.

    Raises:
        ZCubeError: it is empty or no text.
    """
    if not isinstance(value, str):
        raise ZCubeError(f"{name} must be SQL text such as 'x > 1', not {value!r}.")
    if not value.strip():
        raise ZCubeError(f"{name} is empty. {cure}")
    return value


def where_text(value: str) -> str:
    """Return the text of a ``where``, which may be left out.

    Raises:
        ZCubeError: it is empty or no text.
    """
    return predicate_text(value, "where", "Leave it out to select the whole table.")


def flag(value: bool, name: str) -> bool:
    """Return the value.

    Raises:
        ZCubeError: it is not a bool; ``"false"`` would count as true.
    """
    if isinstance(value, bool):
        return value
    # numpy's bool is none of Python's, and numpy may not be installed. It was numpy.bool_ before 2.
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
        return bool(value)
    raise ZCubeError(f"{name} must be True or False, not {value!r}.")


def size(value: int | str | None, name: str) -> str | None:
    """Return a size as SQL's OPTIONS take it; Spark parses text such as ``"10g"``.

    Raises:
        ZCubeError: it is neither a string nor a positive int.
    """
    if isinstance(value, str):
        return value
    checked = positive(value, name, "a size such as '10g', or a positive int of bytes")
    return None if checked is None else str(checked)
