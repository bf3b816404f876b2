"""Names are always quoted, whatever they contain."""

import re

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


@pytest.mark.parametrize(
    ("comment", "weight"),
    [("-- weight: 1e3", 1000.0), ("--Weight:3", 3.0), ("-- WEIGHT: .5 ", 0.5)],
)
def test_weights_in_comments(comment, weight):
    assert statements.split_statements(f"{comment}\nx = 1") == [("x = 1", weight)]


@pytest.mark.parametrize("weight", ["3 (daily)", "1.2.3", "-1", "0", "1e999"])
def test_other_weights_in_comments_are_refused(weight):
    with pytest.raises(ZCubeError, match="must be a number greater than 0, not"):
        statements.split_statements(f"-- weight: {weight}\nx = 1")


@pytest.mark.parametrize(
    "text",
    [
        "-- weight: 3\n-- weight: 4\nx = 1",
        "y = 2;\n-- weight: 3\n-- daily\nx = 1 -- weight: 4",
    ],
)
def test_two_weights_of_a_query_are_refused(text):
    expected = "two weights: the comment '-- weight: 4' follows one with the weight 3. Keep one"
    with pytest.raises(ZCubeError, match=expected):
        statements.split_statements(text)


@pytest.mark.parametrize("comment", ["-- weight: in kg", "-- Weight: see ticket 12", "-- weight:"])
def test_comments_about_weights_are_comments(comment):
    assert statements.split_statements(f"x = 1 {comment}\n") == ["x = 1"]


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_weights_are_written_exactly(weight):
    written = statements.recommend("t", [("x = 1", weight)]).rsplit(" ", 1)[1]
    assert re.fullmatch(r"[0-9]+\.[0-9]+", written)
    assert float(written) == weight
