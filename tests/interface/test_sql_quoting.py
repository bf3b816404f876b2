"""Names are always quoted, whatever they contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zcube import ZCubeError
from zcube._sql import quoting, statements


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("`a.b`", ["a.b"]),
        ("`a.b`.c", ["a.b", "c"]),
        ("`a``b`", ["a`b"]),
        ("a) ; DROP", ["a) ; DROP"]),
        ("a`b", ["a`b"]),
        ("`a", ["`a"]),
    ],
)
def test_a_name_is_split_at_its_dots_outside_quotes(name, parts):
    assert quoting.name_parts(name) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "``"])
def test_empty_parts_are_rejected(name):
    with pytest.raises(ZCubeError):
        quoting.name_parts(name)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_quoted_names_come_back(parts):
    assert quoting.name_parts(quoting.qualified(parts)) == parts


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", `;`, r'\\'; SELECT 2", ["SELECT ';', \";\", `;`, r'\\'", "SELECT 2"]),
        ("/* a; /* b; */ it's; */ SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT /*+ HINT */ 1 -- it's; one \\\n; still\n; SELECT 2", None),
        (
            "SELECT 'a\\';b', 'c'';d'; SELECT bar'x;'",
            ["SELECT 'a\\';b', 'c'';d'", "SELECT bar'x;'"],
        ),
        ("SELECT 1 /* unclosed; SELECT 2", ["SELECT 1"]),
        ("-- weight: 3\nSELECT 1;;", [("SELECT 1", 3.0)]),
    ],
)
def test_a_file_is_split_at_its_semicolons(text, queries):
    found = statements.split_statements(text)
    assert found == (queries or ["SELECT /*+ HINT */ 1", "SELECT 2"])
