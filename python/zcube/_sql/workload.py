"""Workloads: predicates of queries with weights, as callers pass them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from zcube._sql.arguments import check_takes_workload, checked_weight
from zcube._sql.statements import WEIGHT
from zcube.errors import ZCubeError

Workload = Mapping[str, float] | Iterable[str | tuple[str, float]]
"""``{"x = 5": 3.0}``, or ``["y < 7", ("x = 5", 3.0)]``; the default weight is 1."""


def workload_items(
    workload: Workload | None, curve: str | None
) -> list[dict[str, str | float]] | None:
    """Return each predicate with its weight, in ZCube's JSON form.

    Raises:
        ZCubeError: it is empty, a predicate is not a string, a weight is not a number greater than
            0, or the given curve takes no workload.

    >>> workload_items(["y < 7"], "kdtree")
    [{'predicate': 'y < 7', 'weight': 1.0}]
    """
    if workload is None:
        return None
    wrong = ZCubeError(
        "workload must be a list of predicates or a dict, not "
        f"{repr(workload) if isinstance(workload, (str, int)) else type(workload).__name__}."
    )
    # Of a pandas DataFrame, the items are its columns' names.
    if isinstance(workload, (str, bytes)) or hasattr(type(workload), "columns"):
        raise wrong
    try:
        given = iter(workload.items() if isinstance(workload, Mapping) else workload)
    except TypeError:  # PySpark's of a Column, too.
        raise wrong from None
    items = list(given)
    if not items:
        raise ZCubeError("workload has no predicates. Leave it out, or give some.")
    check_takes_workload(curve)
    return [_item(item) for item in items]


def workload_option(workload: Workload | None, curve: str | None) -> str | None:
    """Write a workload as the option ``workload`` takes it: a JSON list.

    Raises:
        ZCubeError: see ``workload_items``.
    """
    items = workload_items(workload, curve)
    return None if items is None else json.dumps(items, ensure_ascii=False)


def _item(item: str | tuple[str, float]) -> dict[str, str | float]:
    pair = (item, 1.0) if isinstance(item, str) else item
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
        raise ZCubeError(f"A workload has predicates or (predicate, weight) pairs, not {item!r}.")
    predicate, weight = pair
    if not predicate.strip():
        raise ZCubeError('A predicate of the workload is empty. Write it as after WHERE: "x > 1".')
    return {"predicate": predicate, "weight": checked_weight(weight, predicate)}


def read_workload(path: str) -> list[tuple[str, float]]:
    """Read a workload from a file: each line is a predicate, or ``weight | predicate``.

    Empty lines, comments (``--``), and a semicolon at the end are ignored; a comment that sets a
    weight in a file of queries (``-- weight: 3``) is refused. The text
    before the first ``|`` is a weight only if it is a number, because ``a | b = 3`` is SQL too.

    Raises:
        ZCubeError: the file can't be read, has no predicates, or has weights as a file of queries.
    """
    try:
        # Editors on Windows begin a file with a mark of its encoding.
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ZCubeError(f"The workload {path} can't be read: {error}") from error
    found = []
    for line in lines:
        text = line.strip().rstrip(";").rstrip()
        comment = WEIGHT.match(text)
        if comment and _number(comment[1]) is not None:
            raise ZCubeError(f"The workload {path} has {text!r}. Write it as 'weight | predicate'.")
        if text and not text.startswith("--"):
            before, bar, after = text.partition("|")
            weight = _number(before) if bar else None
            found.append((text, 1.0) if weight is None else (after.strip(), weight))
    if not found:
        raise ZCubeError(f"The workload {path} has no predicates. Write one on each line.")
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
