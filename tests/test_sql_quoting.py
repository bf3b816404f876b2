"""Names are always quoted, whatever they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zcube import ZCubeError, _sql


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
def test_name_parts(name, parts):
    assert _sql.name_parts(name) == parts


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "``"])
def test_empty_parts_are_refused(name):
    with pytest.raises(ZCubeError):
        _sql.name_parts(name)


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_quoted_names_come_back(parts):
    assert _sql.name_parts(_sql.qualified(parts)) == parts
