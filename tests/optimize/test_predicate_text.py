"""A predicate is parsed on its own or rejected; it never affects the rest of the statement."""

import random
import shutil

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import AnalysisException
from zcube import ClusteredTable, ZCubeError
from zcube._sql import quoting

from tests.support.log_replay import actions, last_version, live_files
from tests.support.matrix import cases

ROWS = 1500


@pytest.fixture(scope="module")
def template(spark, tmp_path_factory):
    """Three partitions of two files each, and a string partition column with odd values."""
    path = str(tmp_path_factory.mktemp("template") / "table")
    for part in range(2):
        spark.range(ROWS).selectExpr(
            "id", f"int(hash(id, {part}) & 1023) x", "int(id % 3) p", "id y"
        ).coalesce(1).write.format("delta").partitionBy("p").mode("append").save(path)
    return path


@pytest.fixture
def table(spark, template, path):
    """A copy of it."""
    shutil.copytree(template, path)
    return ClusteredTable.for_path(spark, path)


def rewritten(path):
    """Partitions of the files that the last commit removed."""
    return sorted(
        a["remove"]["partitionValues"]["p"]
        for a in actions(path, last_version(path))
        if "remove" in a
    )


MEANING = {
    "p = 1 -- note": "1",
    "p = 1 -- note\n": "1",
    "p = /* one /* nested */ */ 1": "1",
    "p = 1 /* ZORDER BY (y) */ -- OPTIONS ('maxBytes' = '1')": "1",
    "-- first\np = 1": "1",
    "p\n=\n1\n": "1",
    "(p = 1)": "1",
    "p = 1 OR FALSE": "1",
    "p = r'1' -- \\": "1",
    "p = '1' AND '\\\\' = r'\\' AND \"--\" = '--' AND \"it's\" = 'it\\'s'": "1",
    "concat(p, ' ZORDER BY (y) --') = '1 ZORDER BY (y) --'": "1",
    "p IN (1) AND ') OPTIONS (' <> '' AND 'DRY RUN' <> '/*'": "1",
    "p = 1 AND 'a\x00b' <> ''": "1",
}


@pytest.mark.parametrize("where", MEANING)
def test_a_predicate_selects_what_a_query_reads(spark, template, where):
    before = last_version(template)
    # The oracle for its meaning is Spark's own filter over the rows.
    assert {r.p for r in spark.read.format("delta").load(template).where(where).collect()} == {1}
    table = ClusteredTable.for_path(spark, template)
    (cube,) = table.optimize(where=where, zorder_by=["x"], dry_run=True).cubes
    assert len(cube.files) == 2
    assert cube.partition == {"p": MEANING[where]}
    kept = table.optimize(where=where, zorder_by=["x"], max_bytes=1)
    # Nothing fits into the budget, which must not be lost after a comment.
    assert (kept.files_removed, last_version(template)) == (0, before)


# Plain, and those with the most that could be taken for what follows the predicate.
REWRITTEN = {
    "p = 1 -- note",
    "p = 1 /* ZORDER BY (y) */ -- OPTIONS ('maxBytes' = '1')",
    "p IN (1) AND ') OPTIONS (' <> '' AND 'DRY RUN' <> '/*'",
}


@pytest.mark.parametrize("where", cases(MEANING, REWRITTEN))
def test_a_rewrite_takes_a_predicate_for_what_it_says(table, path, where):
    table.optimize(where=where, zorder_by=["x"], curve="zorder")
    assert rewritten(path) == [MEANING[where]] * 2
    (laid_out,) = [f for f in live_files(path) if f.partition["p"] == "1"]
    assert laid_out.tags["ZCUBE_ZORDER_BY"] == '["x"]'
    assert laid_out.tags["ZCUBE_ZORDER_CURVE"] == "zorder"
    xs = pq.read_table(f"{path}/{laid_out.path}", columns=["x"])["x"].to_pylist()
    assert xs == sorted(xs)
    assert len(xs) == 2 * ROWS / 3
    # Its quality covers the same files.
    assert table.quality(columns=["x"], where=where).all.files == 1


REJECTED = [
    "p = 1 ZORDER BY (y)",
    "p = 1 OPTIONS ('maxBytes' = '1')",
    "p = 1 DRY RUN",
    "p = 1) OR (1 = 1",
    "p = 1) ZORDER BY (y) --",
    "p = 1; OPTIMIZE t",
    "p = 1 /* unclosed",
    "p = 1 /* /* nested */",
    "p = 1 /*+ hint */",
    "p = 'unbalanced",
    "p = `unbalanced",
    "p = (1",
    "p = 1\x00",
    "p = ?",
    "p = :one",
    "p = 1 note",
    "p = 1 AS note",
    "*",
    "p, x",
    "p = 1 WHERE p = 2",
    "p IN (SELECT 1)",
    "x = 1",
    "-- note",
    "/* note */",
    "' ",
    "\\",
    "p = 1 \\",
]


@pytest.mark.parametrize("escaped", cases(["false", "true"], {"true"}))
def test_what_is_no_predicate_is_rejected(spark, table, path, escaped):
    before, files = last_version(path), {f.path for f in live_files(path)}
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    methods = {
        "ZORDER BY": lambda where: table.optimize(where=where, zorder_by=["x"]),
        "with options": lambda where: table.optimize(where=where, zorder_by=["x"], max_bytes="1g"),
        "DRY RUN": lambda where: table.optimize(where=where, zorder_by=["x"], dry_run=True),
        "compaction": lambda where: table.optimize(where=where),
        "quality": lambda where: table.quality(columns=["x"], where=where),
    }
    taken = []
    for where in REJECTED:
        for name, method in methods.items():
            try:
                method(where)
                taken.append((name, where))
            except (AnalysisException, ZCubeError):
                pass
    assert not taken
    assert last_version(path) == before
    assert {f.path for f in live_files(path)} == files


def test_the_rejection_names_the_predicate(table):
    for where in ("p = 1) OR (1 = 1", "p = :one", "p = 1 note"):
        for method in (
            lambda w: table.optimize(where=w, zorder_by=["x"]),
            lambda w: table.quality(columns=["x"], where=w),
        ):
            with pytest.raises(AnalysisException) as error:
                method(where)
            assert error.value.getCondition() == "ZCUBE_INVALID_PREDICATE"
            assert where in str(error.value)


def test_compaction_and_deltas_own_command_take_the_same_predicate(spark, table, path, delta_only):
    table.optimize(where="p = 1 -- note")
    assert rewritten(path) == ["1", "1"]
    with delta_only():
        table.optimize(where="p = 2 -- note")
    assert rewritten(path) == ["2", "2"]
    with delta_only():
        table.optimize(where="p = 0 /* ZORDER BY (y) */", zorder_by=["x"])
    assert rewritten(path) == ["0", "0"]


def test_a_clause_and_the_option_together_are_rejected(spark, table, path):
    statement = f"OPTIMIZE delta.`{path}` WHERE p = 1 ZORDER BY (x) OPTIONS ('Where' = 'p = 2')"
    with pytest.raises(AnalysisException) as error:
        spark.sql(statement)
    assert error.value.getCondition() == "ZCUBE_WHERE_GIVEN_TWICE"
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` OPTIONS ('where' = 'p = 1', 'WHERE' = 'p = 2')")
    assert error.value.getCondition() == "ZCUBE_INVALID_OPTION"


def test_clustered_tables_take_comments_too(spark, path):
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, y INT) USING delta CLUSTER BY (x)")
    for low in (0, 1000):
        spark.range(low, low + 500).selectExpr("int(id) x", "int(id) y").coalesce(1).write.format(
            "delta"
        ).mode("append").save(path)
    table = ClusteredTable.for_path(spark, path)
    removed = table.optimize(where="x < 100 -- OPTIONS ('curve' = 'no')", curve="zorder")
    assert removed.files_removed == 1
    with pytest.raises(AnalysisException):
        table.optimize(where="x < 100) OR (TRUE")


def test_workloads_and_recommendations_are_texts_too(spark, table):
    workload = ["x < 5 -- note", "x = 7 /* ) */", "x > 1 AND 'a\\\\' <> \"'\""]
    for escaped in ("false", "true"):
        spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
        plan = table.optimize(
            zorder_by=["x"], curve="kdtree", workload=workload, dry_run=True, where="p = 1 -- '\""
        )
        assert sum(len(cube.files) for cube in plan.cubes) == 2
        found = table.recommend([*workload, "SELECT * FROM table WHERE x = 3 -- it's"])
        assert [q.query for q in found.today.queries][:3] == workload


def test_a_setting_is_on_in_whatever_case(spark):
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "TRUE")
    text = "a\\\\b"
    assert spark.sql(f"SELECT {quoting.writer(spark)(text)} t").first().t == text


@pytest.mark.parametrize("escaped", ["false", "true"])
def test_a_text_is_read_as_it_was_meant(spark, escaped):
    """Compared with Spark's own parsing of the literal, for problematic strings."""
    spark.conf.set("spark.sql.parser.escapedStringLiterals", escaped)
    write = quoting.writer(spark)
    chance = random.Random(15)
    pieces = ["\\", "'", '"', "''", "n", "u0041", "%", "_", "\n", " ", "x", "é", "😀", "\x00", "--"]
    texts = ["".join(chance.choices(pieces, k=chance.randrange(9))) for _ in range(300)]
    texts += ["", "'", '"', "'\"", "\"'", "\\'\"", "it's", "a\\ "]
    if escaped == "true":
        ended = [t for t in texts if (len(t) - len(t.rstrip("\\"))) % 2]
        assert ended
        for text in ended:
            with pytest.raises(ZCubeError, match="backslash"):
                write(text)
        texts = [t for t in texts if t not in ended]
    row = spark.sql("SELECT " + ", ".join(write(text) for text in texts)).first()
    assert list(row) == texts


@given(st.text())
def test_only_the_last_character_of_a_literal_closes_it(text):
    """By hand: quotes are paired, with backslashes keeping the next character."""
    inside, rest = None, quoting.literal(text)
    escaped = False
    for at, character in enumerate(rest):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif inside is None:
            assert character == "'"
            inside = at
        elif character == "'":
            assert at == len(rest) - 1
