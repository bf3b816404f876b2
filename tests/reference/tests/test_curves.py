"""Properties of the oracles themselves: a wrong oracle would accept a wrong curve."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import curves

uint32 = st.integers(0, 2**32 - 1)


def grid(dimensions, bits):
    return list(itertools.product(range(1 << bits), repeat=dimensions))


def steps(point, other):
    return sum(abs(a - b) for a, b in zip(point, other, strict=True))


@pytest.mark.parametrize(("dimensions", "bits"), [(2, 1), (2, 4), (3, 1), (3, 3), (4, 2), (5, 1)])
def test_hilbert_is_one_to_one_and_neighbours_touch(dimensions, bits):
    points = grid(dimensions, bits)
    places = {curves.hilbert(point, bits): point for point in points}
    assert sorted(places) == list(range(len(points)))
    assert all(steps(places[i], places[i + 1]) == 1 for i in range(len(points) - 1))


def test_hilbert_of_the_4_by_4_grid_is_the_published_one():
    rows = [[curves.hilbert((x, y), 2) for x in range(4)] for y in range(4)]
    assert rows == [[0, 1, 14, 15], [3, 2, 13, 12], [4, 7, 8, 11], [5, 6, 9, 10]]
    assert curves.hilbert((5, 10, 20), 5) == 7865


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5])
def test_the_two_hilbert_oracles_are_one_curve(bits):
    """Skilling's transform, and four copies of a smaller curve, up to a mirror at the diagonal."""
    glued = curves.hilbert_by_gluing(bits)
    assert sorted(glued) == grid(2, bits)
    places = [curves.hilbert(point, bits) for point in glued]
    mirrored = [curves.hilbert((y, x), bits) for x, y in glued]
    assert list(range(4**bits)) in (places, mirrored)


@given(st.data(), st.integers(2, 5), st.integers(1, 12))
def test_one_more_bit_refines_each_cell(data, dimensions, bits):
    """A cell of the coarse grid is one run of the fine curve, so long common prefixes mean proximity."""
    coordinate = st.integers(0, (1 << (bits + 1)) - 1)
    point = data.draw(st.tuples(*[coordinate] * dimensions))
    corner = tuple(v & ~1 for v in point)
    run = curves.hilbert(point, bits + 1) >> dimensions
    assert curves.hilbert(corner, bits + 1) >> dimensions == run


@given(st.lists(uint32, min_size=1, max_size=6))
def test_interleaving_is_undone_by_taking_every_nth_bit(values):
    number = int.from_bytes(curves.interleave_bytes(values), "big")
    n = len(values)
    for i, value in enumerate(values):
        bits = (number >> (n * k + n - 1 - i) & 1 for k in range(32))
        assert sum(bit << k for k, bit in enumerate(bits)) == value


def test_214_and_97_interleave_to_46633():
    assert curves.interleave_bytes([214, 97])[-2:] == (46633).to_bytes(2, "big")
    assert curves.interleave_bytes([97, 214])[-2:] == (30998).to_bytes(2, "big")


@given(st.lists(uint32, min_size=1, max_size=4), st.integers(0, 3), st.integers(1, 1000))
def test_interleaving_grows_with_each_value(values, which, more):
    which %= len(values)
    larger = [*values]
    larger[which] = min(values[which] + more, 2**32 - 1)
    if larger != values:
        assert curves.interleave_bytes(larger) > curves.interleave_bytes(values)


@given(st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=60), st.integers(1, 40))
def test_ranks_follow_the_values_and_stay_on_the_scale(values, scale):
    ranked = curves.ranks(values, scale)
    assert all(0 <= rank < scale for rank in ranked)
    pairs = [(v, r) for v, r in zip(values, ranked, strict=True) if v is not None]
    for (a, rank_a), (b, rank_b) in itertools.pairwise(sorted(pairs)):
        assert rank_a <= rank_b
        assert a != b or rank_a == rank_b
    assert all(r == 0 for v, r in zip(values, ranked, strict=True) if v is None)
