"""Which cases of a matrix every submission runs, and which only a night has the time for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
# Whether everything runs, as in the nightly workflow.
NIGHT = os.environ.get("ZCUBE_TESTS") == "all"


def cases(all_of_them: Iterable[Any], always: Set[Any] | Callable[[Any], bool]) -> list[Any]:
    """Return a test's parameters, those marked ``long`` that are not ``always`` run.

    ``ZCUBE_TESTS=all`` runs the long ones too, as the nightly workflow does.

    >>> [(case.id, bool(case.marks)) for case in cases(["a", "b"], {"a"})]
    [('a', False), ('b', True)]
    """
    all_of_them = list(all_of_them)
    if not callable(always):
        # A name that is spelled wrong would leave its case to the night.
        assert always <= set(all_of_them), always - set(all_of_them)
        always = always.__contains__
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if always(case) else pytest.mark.long,
            id="-".join(map(_name, case if isinstance(case, tuple) else (case,))),
        )
        for case in all_of_them
    ]


def _name(value: Any) -> str:
    """Return the same name in each process: a function's text has its address."""
    return value.__name__ if callable(value) else str(value)


def rest_at_night(always: list[T], more: list[T]) -> list[T]:
    """Return what one test goes through: the first list, and under ``ZCUBE_TESTS=all`` the second too.

    For cases that must be compared with each other, and so can't be tests of their own.
    """
    return [*always, *(more if NIGHT else [])]
