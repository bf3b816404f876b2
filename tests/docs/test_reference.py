"""docs/reference.md, which Scala's own lists are written to, against Python's."""

import re
from pathlib import Path

from zcube._sql.arguments import CURVES, MERGE_POLICIES

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference.md").read_text(encoding="utf-8")


def values_of(option):
    (values,) = re.findall(rf"^\| `{option}` \| ([^|]*) \|", PAGE, re.MULTILINE)
    return tuple(re.findall(r"`(\w+)`", values))


def test_python_knows_the_curves_and_policies_of_the_jar():
    assert values_of("curve") == CURVES
    assert values_of("mergePolicy") == MERGE_POLICIES
