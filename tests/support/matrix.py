"""Which cases of a matrix every submission runs, and which only a night has the time for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

import pytest


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
            id="-".join(map(str, case)) if isinstance(case, tuple) else str(case),
        )
        for case in all_of_them
    ]
