"""The SQL functions, from Python."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, ArithmeticException
from zcube import functions as zf

from tests.reference import curves


def value(spark, expression):
    return spark.sql(f"SELECT {expression} AS v").collect()[0]["v"]


def test_two_bytes_are_interleaved_bit_by_bit(spark):
    assert int.from_bytes(value(spark, "interleave_bits(214, 97)")[-2:], "big") == 46633
    assert int.from_bytes(value(spark, "interleave_bits(97, 214)")[-2:], "big") == 30998
    assert len(value(spark, "interleave_bits(1, 2, 3)")) == 12


def test_hilbert_index_of_the_4_by_4_grid_is_deltas(spark):
    rows = spark.sql(
        "SELECT x, y, hilbert_index(2, x, y) h FROM (SELECT explode(sequence(0, 3)) x), "
        "(SELECT explode(sequence(0, 3)) y)"
    ).collect()
    grid = [[0, 1, 14, 15], [3, 2, 13, 12], [4, 7, 8, 11], [5, 6, 9, 10]]
    assert all(r.h == grid[r.y][r.x] for r in rows)
    assert value(spark, "hilbert_index(5, 5, 10, 20)") == 7865


def test_neighbours_differ_by_one(spark):
    rows = spark.sql(
        "SELECT x, y FROM (SELECT explode(sequence(0, 31)) x), (SELECT explode(sequence(0, 31)) y)"
        " ORDER BY hilbert_index(5, x, y)"
    ).collect()
    steps = [abs(a.x - b.x) + abs(a.y - b.y) for a, b in zip(rows, rows[1:], strict=False)]
    assert set(steps) == {1}


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=20))
def test_interleave_bits_agrees_with_the_reference(spark, values):
    arguments = ", ".join(f"CAST({v}L AS INT)" for v in values)
    assert bytes(value(spark, f"interleave_bits({arguments})")) == curves.interleave_bytes(values)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(st.data())
def test_hilbert_index_agrees_with_the_reference(spark, data):
    bits = data.draw(st.integers(1, 32))
    point = data.draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=12))
    found = value(spark, f"hilbert_index({bits}, {', '.join(f'{v}L' for v in point)})")
    expected = curves.hilbert(point, bits)
    wide = len(point) > 1 and len(point) * bits > 63
    assert (int.from_bytes(found, "big") if wide else found) == expected
    if wide:
        assert len(found) == (len(point) * bits + 7) // 8


@pytest.mark.parametrize("codegen", ["true", "false"])
def test_nulls_are_the_same_interpreted_and_generated(spark, codegen):
    spark.conf.set("spark.sql.codegen.wholeStage", codegen)
    spark.conf.set(
        "spark.sql.codegen.factoryMode", "CODEGEN_ONLY" if codegen == "true" else "NO_CODEGEN"
    )
    rows = spark.sql(
        "SELECT hex(interleave_bits(x, y)) i, hilbert_index(3, x, y) h, range_partition_id(x, 4) r "
        "FROM VALUES (1, 2), (NULL, 2), (3, NULL), (CAST(NULL AS INT), NULL) AS t(x, y)"
    ).collect()
    assert [r.i for r in rows] == [
        curves.interleave_bytes([x, y]).hex().upper() for x, y in [(1, 2), (0, 2), (3, 0), (0, 0)]
    ]
    assert [r.h for r in rows] == [curves.hilbert((1, 2), 3), None, None, None]
    assert [r.r for r in rows] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    "call",
    [
        "interleave_bits()",
        "interleave_bits(1L)",
        "interleave_bits('a')",
        "interleave_bits(1.5D)",
        "hilbert_index(2)",
        "hilbert_index(0, 1)",
        "hilbert_index(33, 1)",
        "hilbert_index(NULL, 1)",
        "hilbert_index(x, 1)",
        "hilbert_index(2, 'a')",
        "range_partition_id(x, 0)",
        "range_partition_id(x, -1)",
        "range_partition_id(x, 1048577)",
        "range_partition_id(x, x)",
        "range_partition_id(x, NULL)",
        "range_partition_id(map(1, 2), 3)",
    ],
)
def test_wrong_arguments_are_rejected_at_analysis(spark, call):
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"SELECT {call} FROM VALUES (1) AS t(x)")
    assert error.value.getCondition().startswith(("DATATYPE_MISMATCH", "WRONG_NUM_ARGS"))


@pytest.mark.parametrize(("bits", "value"), [(2, 4), (2, -1), (32, 2**32), (1, 2)])
@pytest.mark.parametrize("codegen", ["CODEGEN_ONLY", "NO_CODEGEN"])
def test_a_value_outside_the_grid_is_an_error(spark, bits, value, codegen):
    spark.conf.set("spark.sql.codegen.factoryMode", codegen)
    df = spark.createDataFrame([(value,)], "x BIGINT").selectExpr(f"hilbert_index({bits}, x, 0)")
    with pytest.raises(ArithmeticException) as error:
        df.collect()
    assert error.value.getCondition() == "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE"
    assert error.value.getSqlState() == "22003"
    assert str(value) in str(error.value)
    assert f"{bits} bits" in str(error.value)


def test_narrower_integers_need_no_cast(spark):
    row = spark.sql(
        "SELECT interleave_bits(CAST(3 AS TINYINT), CAST(5 AS SMALLINT)) a, interleave_bits(3, 5) b,"
        " hilbert_index(3, CAST(3 AS TINYINT), 5L) c, hilbert_index(3, 3, 5) d"
    ).collect()[0]
    assert row.a == row.b
    assert row.c == row.d


def test_python_functions_call_those_of_sql(spark):
    row = (
        spark.createDataFrame([(2, 0)], "x INT, y INT")
        .select(
            zf.hilbert_index(2, "x", "y").alias("h"),
            zf.interleave_bits("x", "y").alias("i"),
        )
        .collect()[0]
    )
    assert (row.h, bytes(row.i)) == (14, curves.interleave_bytes([2, 0]))
    values = spark.createDataFrame([(v,) for v in (0, 1, 3, 15, 36, 99)], "x INT")
    ids = values.select("x", zf.range_partition_id("x", 3).alias("r")).orderBy("x").collect()
    assert [row.r for row in ids] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("function", ["interleave_bits", "hilbert_index", "range_partition_id"])
def test_describe_function_shows_arguments_and_true_examples(spark, function):
    text = "\n".join(r[0] for r in spark.sql(f"DESCRIBE FUNCTION EXTENDED {function}").collect())
    assert "Since: 0.1.0" in text
    assert re.search(r"Arguments:\n +\* expr", text) or "* bits - " in text
    examples = re.findall(r"^ +> (SELECT .*);\n((?:^ {7}\S.*\n)+)", text, re.MULTILINE)
    assert len(examples) == text.count("> SELECT") >= 1
    for query, shown in examples:
        assert function in query
        found = [
            "\t".join("NULL" if v is None else str(v) for v in r)
            for r in spark.sql(query).collect()
        ]
        assert found == [line.strip() for line in shown.splitlines()]


def test_the_two_reference_hilbert_curves_agree():
    """Two independent oracles agree."""
    cells = curves.hilbert_by_gluing(5)
    places = sorted((curves.hilbert(cell, 5), cell) for cell in cells)
    glued = [cell for _, cell in places]
    assert glued in (cells, [(y, x) for x, y in cells])
