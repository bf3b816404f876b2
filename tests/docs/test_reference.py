"""Lists and defaults in the docs against those of Python and of the session."""

import re
from pathlib import Path

from zcube._sql.arguments import CURVES, MERGE_POLICIES

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Written from Scala's own lists.
PAGE = (DOCS / "reference.md").read_text(encoding="utf-8")
UNITS = {"": 1, "b": 1, "g": 1 << 30, "GB": 1 << 30, "t": 1 << 40, "TB": 1 << 40}


def values_of(option):
    (values,) = re.findall(rf"^\| `{option}` \| ([^|]*) \|", PAGE, re.MULTILINE)
    return tuple(re.findall(r"`(\w+)`", values))


def test_python_knows_the_curves_and_policies_of_the_jar():
    assert values_of("curve") == CURVES
    assert values_of("mergePolicy") == MERGE_POLICIES


def test_every_option_that_a_page_shows_exists():
    known = set(re.findall(r"^\| `(\w+)` \|", PAGE.partition("## Settings")[0], re.MULTILINE))
    assert {"curve", "maxBytes"} <= known
    examples = (DOCS.parent / "examples").rglob("*.py")
    pages = [DOCS.parent / "README.md", *DOCS.rglob("*.md"), *examples]
    shown = [
        (page.name, key)
        for page in pages
        for clause in re.findall(r"OPTIONS \(([^()]*)\)", page.read_text(encoding="utf-8"))
        for key in re.findall(r"(?:^|,)\s*'?(\w+)'? =", clause)
    ]
    assert len({page for page, _ in shown}) > 5
    # It stands for any option in the grammar.
    assert [(page, key) for page, key in shown if key not in known | {"key"}] == []


def value(text):
    """
    >>> value("100 GB") == value("100g"), value("`leveled`")
    (True, 'leveled')
    """
    size = re.fullmatch(r"(\d+) ?(\w*)", text)
    return int(size[1]) * UNITS[size[2]] if size else text.strip("`")


def test_defaults_of_the_page_on_clustering_are_those_of_the_session(spark):
    page = (DOCS / "clustering.md").read_text(encoding="utf-8")
    defaults = dict(re.findall(r"^\| `(spark[^`]*)` \|[^|]*\| ([^|]*) \|", page, re.MULTILINE))
    assert len(defaults) >= 11
    for name, default in defaults.items():
        expected = spark.sql(f"SET {name}").first()["value"].replace("<undefined>", "not set")
        assert value(default) == value(expected), name
