"""range_partition_id and its rewrite."""

import collections
import random

import pyspark
import pytest
from pyspark.errors import AnalysisException

from tests.support.matrix import cases

SIX = "VALUES (0), (1), (3), (15), (36), (99) AS t(x)"

TYPES = {
    "BOOLEAN": ["false", "true"],
    "TINYINT": ["-128Y", "0Y", "127Y"],
    "SMALLINT": ["-5S", "7S"],
    "INT": ["-2147483648", "-1", "0", "2147483647"],
    "BIGINT": ["-9223372036854775808L", "0L", "9223372036854775807L"],
    "FLOAT": ["float('-inf')", "-1.5F", "0F", "2F", "float('inf')", "float('nan')"],
    "DOUBLE": ["double('-inf')", "-1.5D", "-0D", "2D", "double('inf')", "double('nan')"],
    "DECIMAL(10,2)": ["-3.10BD", "0BD", "12.34BD"],
    "DECIMAL(38,0)": ["-99999999999999999999999999999999999999BD", "0BD", "12BD"],
    "STRING": ["''", "'a'", "'a\\0'", "'ab'", "'b'", "'é'", "'日本'"],
    "STRING COLLATE UTF8_LCASE": ["'a'", "'B'", "'c'"],
    "BINARY": ["X''", "X'00'", "X'7F'", "X'80'", "X'FF00'"],
    "DATE": ["DATE'0001-01-01'", "DATE'1969-12-31'", "DATE'2026-01-01'"],
    "TIMESTAMP": ["TIMESTAMP'1900-01-01 00:00:00'", "TIMESTAMP'2026-01-01 00:00:00.000001'"],
    "TIMESTAMP_NTZ": ["TIMESTAMP_NTZ'1900-01-01 00:00:00'", "TIMESTAMP_NTZ'2026-01-01 00:00:00'"],
    "STRUCT<a: INT, b: STRING>": [
        "named_struct('a', 1, 'b', CAST(NULL AS STRING))",
        "named_struct('a', 1, 'b', 'x')",
        "named_struct('a', 2, 'b', 'a')",
    ],
    "ARRAY<INT>": ["array(1)", "array(1, 2)", "array(2)"],
}
if not pyspark.__version__.startswith("4.0."):  # It has no TIME.
    TYPES["TIME"] = ["TIME'00:00:00'", "TIME'12:30:00.000001'", "TIME'23:59:59'"]


def test_ids_are_ranks_in_ranges_of_equal_size(spark):
    rows = spark.sql(f"SELECT range_partition_id(x, 3) r FROM {SIX} ORDER BY x").collect()
    assert [r.r for r in rows] == [0, 0, 1, 1, 2, 2]


FORMS = (
    "common table",
    "view",
    "dataframe",
    "view with a common table",
    "common table of a common table",
    "view on a view with a common table",
    "common table in FROM",
    "common table in a subquery",
    "text, twice",
    "text below, twice",
)


BY_DAY = {
    "dataframe",
    "view with a common table",
    "view on a view with a common table",
    "common table in a subquery",
}


@pytest.mark.parametrize("form", cases(FORMS, BY_DAY))
def test_each_row_has_one_id_in_a_query_that_uses_other_columns_elsewhere(
    spark, path, form, job_counter
):
    """Copies of the rows with fewer columns would have another sample, and thus other ranges.

    A text is analyzed at each use, and its common tables have other ids each time.
    """
    count = 20_000  # More than a sample has.
    rows = spark.range(0, count, 1, 2).selectExpr("id k", "hash(id) v")
    rows.write.format("delta").save(path)
    called = "SELECT k, v, range_partition_id(k, 10) r FROM"
    ranked = f"{called} delta.`{path}`"
    of_table = f"WITH t AS (SELECT k, v FROM delta.`{path}`)"
    halves = "SELECT k, v FROM s WHERE r < 5 UNION ALL SELECT k, NULL FROM s WHERE r >= 5"

    def both_halves(of_call):
        upper = of_call().where("r >= 5").selectExpr("k", "CAST(NULL AS INT)")
        return of_call().where("r < 5").select("k", "v").unionAll(upper)

    texts = {
        "view with a common table": f"{of_table} {called} t",
        "common table of a common table": f"{of_table}, u AS (SELECT * FROM t UNION ALL "
        f"SELECT * FROM t WHERE k < 0) {called} u",
        "view on a view with a common table": f"{called} base",
        "common table in FROM": f"{called} ({of_table} SELECT * FROM t)",
        "common table in a subquery": f"{ranked} WHERE k IN ({of_table} SELECT k FROM t)",
    }
    with job_counter() as ran:
        if form == "common table":
            found = spark.sql(f"WITH s AS ({ranked}) {halves}").collect()
        elif form == "view":
            spark.sql(ranked).createOrReplaceTempView("s")
            found = spark.sql(halves).collect()
        elif form == "dataframe":
            once = spark.sql(ranked)
            found = both_halves(lambda: once).collect()
        elif form == "text, twice":
            found = both_halves(lambda: spark.sql(f"{of_table} {called} t")).collect()
        elif form == "text below, twice":
            found = both_halves(
                lambda: spark.sql(f"{of_table} SELECT * FROM t").selectExpr(
                    "k", "v", "range_partition_id(k, 10) r"
                )
            ).collect()
        else:
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW base AS {of_table} SELECT k, v FROM t")
            spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW s AS {texts[form]}")
            found = spark.sql(halves).collect()
    assert sorted(row.k for row in found) == list(range(count))
    sampled = [text for text in ran.descriptions if text.startswith("ZCube: sampling")]
    assert len(sampled) == 1 or "subquery" in form


def test_a_column_named_like_an_id_is_another_column(spark, path):
    """Spark makes a filter of EXCEPT over one table, and looks columns up by their names."""
    rows = spark.range(100).selectExpr("id k", "0 range_id", "0 __zcube_range_id")
    rows.write.format("delta").save(path)
    found = spark.sql(
        f"SELECT * FROM delta.`{path}` WHERE range_partition_id(k, 4) < 3 "
        f"EXCEPT SELECT * FROM delta.`{path}` WHERE range_partition_id(k, 4) = 2"
    )
    assert sorted(row.k for row in found.collect()) == list(range(50))


def test_a_cached_query_over_a_common_table_is_found_again(spark, path):
    spark.range(9).selectExpr("id k").write.format("delta").save(path)
    text = (
        f"WITH s AS (SELECT * FROM delta.`{path}`) "
        "SELECT range_partition_id(r, 2) FROM (SELECT range_partition_id(k, 10) r FROM s)"
    )
    cached = spark.sql(text).cache()
    try:
        execution = spark.sql(text)._jdf.queryExecution()
        assert "InMemoryRelation" in execution.withCachedData().toString()
        # Each operator is one line, without the plans by which calls are known.
        assert execution.analyzed().toString().count("CTERelationRef") == 1
    finally:
        cached.unpersist()


# All types at once take as many jobs as one of them.
TOGETHER = "all types in one table"


@pytest.mark.parametrize("codegen", ["CODEGEN_ONLY", "NO_CODEGEN"])
@pytest.mark.parametrize("which", cases([TOGETHER, *TYPES], {TOGETHER}))
def test_every_type_is_ranked_in_its_order(spark, which, codegen):
    """As many ranges as values: the ids must number the values in order; the SQL literals are in order."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    spark.conf.set("spark.sql.codegen.factoryMode", codegen)
    spark.conf.set("spark.sql.codegen.wholeStage", str(codegen == "CODEGEN_ONLY").lower())
    columns = {sql_type: TYPES[sql_type] for sql_type in (TYPES if which == TOGETHER else [which])}
    longest = max(map(len, columns.values()))
    # The last row has NULLs only, and those of shorter lists are filled with them.
    filled = [
        [*literals, *["NULL"] * (longest + 1 - len(literals))] for literals in columns.values()
    ]
    values = ", ".join(
        f"({i}, {', '.join(row)})" for i, row in enumerate(zip(*filled, strict=True))
    )
    names = [f"v{number}" for number, _ in enumerate(columns)]
    typed = ", ".join(f"CAST({v} AS {t}) {v}" for v, t in zip(names, columns, strict=True))
    ids = ", ".join(
        f"range_partition_id({v}, {len(literals)})"
        for v, literals in zip(names, columns.values(), strict=True)
    )
    rows = spark.sql(
        f"SELECT i, {ids} FROM (SELECT /*+ REPARTITION(2) */ i, {typed} "
        f"FROM VALUES {values} AS t(i, {', '.join(names)})) ORDER BY i"
    ).collect()
    order, *found = zip(*rows, strict=True)
    assert order == tuple(range(longest + 1))
    for (sql_type, literals), of_type in zip(columns.items(), found, strict=True):
        of_nulls = [0] * (longest + 1 - len(literals))
        assert list(of_type) == [*range(len(literals)), *of_nulls], sql_type


@pytest.mark.parametrize("codegen", ["CODEGEN_ONLY", "NO_CODEGEN"])
def test_zeros_are_one_value(spark, codegen):
    spark.conf.set("spark.sql.codegen.factoryMode", codegen)
    rows = spark.sql("SELECT range_partition_id(x, 5) r FROM VALUES (-0.0D), (0.0D) AS t(x)")
    assert [r.r for r in rows.collect()] == [0, 0]


def test_null_has_id_zero_in_generated_code(spark):
    """Delta 4.4.0's id for NULL differs between generated and interpreted code."""
    df = spark.sql(
        "SELECT x, range_partition_id(x, 10) r FROM (SELECT explode(sequence(-1000, 999)) x "
        "UNION ALL SELECT CAST(NULL AS INT))"
    )
    assert df.where("x IS NULL").collect()[0].r == 0
    assert df.agg({"r": "min"}).collect()[0][0] == 0


def test_strings_are_ranked_behind_a_long_common_prefix(spark):
    prefix = "https://example/" * 40
    rows = spark.sql(
        f"SELECT x, range_partition_id(concat('{prefix}', lpad(x, 6, '0')), 10) r "
        "FROM (SELECT explode(sequence(0, 9999)) x)"
    ).collect()
    assert all(r.r == r.x // 1000 for r in rows)


def test_char_and_varchar_are_ranked_as_strings(spark, name):
    spark.sql(f"CREATE TABLE {name} (c CHAR(5), v VARCHAR(5)) USING delta")
    spark.sql(f"INSERT INTO {name} VALUES ('a', 'x'), ('b', 'y'), ('c', 'z')")
    rows = spark.sql(
        f"SELECT range_partition_id(c, 3) rc, range_partition_id(v, 3) rv FROM {name} ORDER BY c"
    ).collect()
    assert [tuple(r) for r in rows] == [(0, 0), (1, 1), (2, 2)]


def test_constant_and_null_inputs_have_id_zero(spark):
    ids = "SELECT range_partition_id(x, 7) r FROM"
    assert {r.r for r in spark.sql(f"{ids} (SELECT 5 x FROM range(100))").collect()} == {0}
    assert {
        r.r for r in spark.sql(f"{ids} (SELECT CAST(NULL AS INT) x FROM range(9))").collect()
    } == {0}
    assert spark.sql(f"{ids} (SELECT 5 x FROM range(0))").collect() == []


def test_ids_are_monotone_on_skewed_data(spark):
    rng = random.Random(7)
    values = [int(rng.paretovariate(0.6)) % 10**9 for _ in range(30000)]
    df = spark.createDataFrame([(v,) for v in values], "x BIGINT")
    rows = df.selectExpr("x", "range_partition_id(x, 100) r").distinct().orderBy("x").collect()
    ids = [r.r for r in rows]
    assert ids == sorted(ids)
    assert ids[0] == 0
    assert ids[-1] <= 99


def test_large_inputs_are_sampled_evenly(spark):
    # Many times the sample for so few ranges.
    df = spark.range(0, 400_000, 1, 8).selectExpr("range_partition_id(hash(id), 20) r")
    counts = [r["count"] for r in df.groupBy("r").count().collect()]
    assert len(counts) == 20
    assert max(counts) < 1.25 * 20_000
    assert min(counts) > 0.75 * 20_000


def test_ranges_of_a_delta_table_with_repeated_values_are_even(spark, path):
    """As lineitem's dates: equal rows in each of many files."""
    rows = spark.range(0, 200_000, 1, 20).selectExpr("id % 400 x")
    rows.write.format("delta").save(path)
    table = spark.read.format("delta").load(path)
    with_ids = table.selectExpr("x", "range_partition_id(x, 40) r").groupBy("x", "r").count()
    found = with_ids.collect()
    # Each value is in one range, and near its exact one.
    assert sorted(row.x for row in found) == list(range(400))
    assert all(abs(row.r - row.x // 10) <= 1 for row in found)
    counts = collections.Counter(row.r for row in found for _ in range(row["count"]))
    assert len(counts) == 40
    assert max(counts.values()) < 1.5 * 5000
    assert min(counts.values()) > 0.5 * 5000


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT x FROM {SIX} WHERE range_partition_id(x, 3) = 1 AND x > 3", [(15,)]),
        (f"SELECT range_partition_id(x, 3) r, count(*) FROM {SIX} GROUP BY 1 ORDER BY 1",
         [(0, 2), (1, 2), (2, 2)]),
        (f"SELECT count(*) FROM {SIX} GROUP BY range_partition_id(x, 3) "
         "ORDER BY range_partition_id(x, 3)", [(2,), (2,), (2,)]),
        (f"SELECT sum(range_partition_id(x, 3)) FROM {SIX}", [(6,)]),
        (f"SELECT x FROM {SIX} ORDER BY range_partition_id(x, 3) DESC, x LIMIT 2", [(36,), (99,)]),
        (f"SELECT a.x, b.x FROM {SIX.replace('t(x)', 'a(x)')} JOIN {SIX.replace('t(x)', 'b(x)')} ON "
         "range_partition_id(a.x, 6) = range_partition_id(b.x, 3) + 4 ORDER BY 1, 2",
         [(36, 0), (36, 1), (99, 3), (99, 15)]),
        (f"WITH c AS (SELECT x, range_partition_id(x, 3) r FROM {SIX}) "
         "SELECT a.x, b.x FROM c a JOIN c b ON a.r = b.r AND a.x < b.x ORDER BY 1",
         [(0, 1), (3, 15), (36, 99)]),
        (f"SELECT (SELECT max(range_partition_id(x, 3)) FROM {SIX})", [(2,)]),
        (f"SELECT y FROM VALUES (1), (9) AS u(y) WHERE y IN (SELECT range_partition_id(x, 3) FROM {SIX})",
         [(1,)]),
        (f"SELECT range_partition_id(range_partition_id(x, 6), 3) FROM {SIX} ORDER BY x",
         [(0,), (0,), (1,), (1,), (2,), (2,)]),
        (f"SELECT row_number() OVER (PARTITION BY range_partition_id(x, 3) ORDER BY x) "
         f"FROM {SIX} ORDER BY x", [(1,), (2,), (1,), (2,), (1,), (2,)]),
        (f"SELECT range_partition_id(s.a.b, 3) FROM (SELECT named_struct('a', named_struct('b', x)) s "
         f"FROM {SIX}) ORDER BY s.a.b", [(0,), (0,), (1,), (1,), (2,), (2,)]),
        (f"SELECT range_partition_id(7, 3) FROM {SIX} LIMIT 1", [(0,)]),
    ],
)  # fmt: skip
def test_range_partition_id_gives_the_same_ids_in_every_part_of_a_query(spark, query, expected):
    assert [tuple(r) for r in spark.sql(query).collect()] == expected


def test_it_works_in_views_and_over_cached_data(spark):
    spark.sql(
        f"CREATE OR REPLACE TEMP VIEW ranked AS SELECT x, range_partition_id(x, 3) r FROM {SIX}"
    )
    assert [r.r for r in spark.sql("SELECT r FROM ranked WHERE x > 3 ORDER BY x").collect()] == [
        1,
        2,
        2,
    ]
    cached = spark.table("ranked").cache()
    try:
        first = cached.collect()
        assert spark.table("ranked").collect() == first
        assert "InMemory" in cached._jdf.queryExecution().executedPlan().toString()
    finally:
        cached.unpersist()


def test_one_sampling_job_for_all_placeholders(spark, path, job_counter):
    spark.range(1000).selectExpr("id x", "id * 2 y", "-id z").write.parquet(path)
    df = spark.read.parquet(path).selectExpr(
        "range_partition_id(x, 5) a", "range_partition_id(y, 50) b", "range_partition_id(z, 3) c"
    )
    with job_counter() as ran:
        df.collect()
        df.collect()
        df.explain()
    sampling = [d for d in ran.descriptions if d.startswith("ZCube: sampling")]
    assert sampling == ["ZCube: sampling x, y, z for range_partition_id"]


@pytest.mark.long
def test_the_same_data_gives_the_same_ids(spark, path):
    spark.range(0, 300_000, 1, 5).selectExpr("hash(id) x").write.parquet(path)
    query = spark.read.parquet(path).selectExpr("x", "range_partition_id(x, 1000) r")
    first = query.selectExpr("sum(hash(x, r))", "max(r)").collect()
    assert query.selectExpr("sum(hash(x, r))", "max(r)").collect() == first


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT range_partition_id(sum(x), 3) FROM {SIX}", "AGGREGATE"),
        ("SELECT transform(array(1, 2), e -> range_partition_id(e, 3))", "LAMBDA"),
        ("SELECT range_partition_id(rand(), 3)", "NONDETERMINISTIC"),
        (f"SELECT 1 FROM {SIX.replace('t(x)', 'a(x)')} JOIN {SIX.replace('t(x)', 'b(x)')} "
         "ON range_partition_id(a.x + b.x, 3) = 1", "BOTH_SIDES_OF_JOIN"),
        (f"SELECT x FROM {SIX} WHERE EXISTS (SELECT 1 FROM VALUES (1) AS u(y) "
         "WHERE range_partition_id(t.x, 3) = y)", "CORRELATED"),
    ],
)  # fmt: skip
def test_rejected_at_analysis_where_it_cannot_work(spark, query, reason):
    with pytest.raises(AnalysisException) as error:
        spark.sql(query)
    assert error.value.getCondition() == f"ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.{reason}"
    assert "SQLSTATE: 0A000" in str(error.value)


def test_range_partition_id_of_a_stream_is_rejected(spark):
    with pytest.raises(AnalysisException) as error:
        spark.readStream.format("rate").load().selectExpr("range_partition_id(value, 3)")
    assert error.value.getCondition() == "ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.STREAMING"


def test_delete_by_a_range_partition_id_is_rejected_and_deletes_nothing(spark, name):
    spark.sql(f"CREATE TABLE {name} USING delta AS SELECT id FROM range(10)")
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"DELETE FROM {name} WHERE range_partition_id(id, 3) = 1")
    assert "ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED" in str(error.value)
    assert spark.table(name).count() == 10
