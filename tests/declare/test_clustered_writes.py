"""A write to a clustered table equals Delta's own, except that the columns are kept."""

import itertools

import pytest
from pyspark.sql.functions import expr, lit

from tests.support.log_replay import clustering_columns, last_version
from tests.support.matrix import cases, rest_at_night
from tests.support.twin_writes import (
    PlansSeen,
    WrittenTable,
    condition_of,
    transaction_settings,
)

_numbers = itertools.count()


@pytest.fixture
def twins(spark, tmp_path, delta_only):
    """``twins(scenario)`` runs it on two tables, one with plain Delta, and returns both results."""
    made = []

    def both(scenario):
        results = []
        for plain in (False, True):
            number = next(_numbers)
            table = WrittenTable(spark, f"twin{number}", str(tmp_path / f"twin{number}"))
            made.append(table)
            if plain:
                with delta_only():
                    results.append(scenario(table))
            else:
                results.append(scenario(table))
                assert table.columns() == ["a", "b"]
        return results

    yield both
    spark.catalog.clearCache()
    for table in made:
        spark.sql(f"DROP TABLE IF EXISTS {table.name}")


def rows(spark, first, last, c="x"):
    return spark.range(first, last, 1, 1).selectExpr("id AS a", "INT(id % 3) AS b", f"'{c}' AS c")


def delta(frame, mode, options):
    return frame.write.format("delta").mode(mode).options(**options)


def by_sql(text):
    def write(frame, table, options):
        assert not options
        frame.createOrReplaceTempView("source")
        frame.sparkSession.sql(text.format(table.name))

    return write


def dynamically(write):
    def dynamic(frame, table, options):
        frame.sparkSession.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
        try:
            write(frame, table, options)
        finally:
            frame.sparkSession.conf.unset("spark.sql.sources.partitionOverwriteMode")

    return dynamic


def v2(frame, table, options):
    return frame.writeTo(table.name).options(**options)


WRITES = {
    "save append": lambda f, t, o: delta(f, "append", o).save(t.path),
    "save append clusterBy": lambda f, t, o: delta(f, "append", o).clusterBy("a", "b").save(t.path),
    "save overwrite": lambda f, t, o: delta(f, "overwrite", o).save(t.path),
    "save overwrite clusterBy": lambda f, t, o: (
        delta(f, "overwrite", o).clusterBy("a", "b").save(t.path)
    ),
    "save ignore": lambda f, t, o: delta(f, "ignore", o).save(t.path),
    "save replaceWhere": lambda f, t, o: delta(
        f, "overwrite", {**o, "replaceWhere": "c = 'x'"}
    ).save(t.path),
    "save replaceUsing": lambda f, t, o: delta(f, "overwrite", {**o, "replaceUsing": "a"}).save(
        t.path
    ),
    "save replaceOn": lambda f, t, o: delta(
        f.alias("s"), "overwrite", {**o, "replaceOn": "t.a = s.a", "targetAlias": "t"}
    ).save(t.path),
    "save dynamic": lambda f, t, o: delta(
        f, "overwrite", {**o, "partitionOverwriteMode": "dynamic"}
    ).save(t.path),
    "saveAsTable append": lambda f, t, o: delta(f, "append", o).saveAsTable(t.name),
    "saveAsTable overwrite": lambda f, t, o: delta(f, "overwrite", o).saveAsTable(t.name),
    "saveAsTable overwrite clusterBy": lambda f, t, o: (
        delta(f, "overwrite", o).clusterBy("a", "b").saveAsTable(t.name)
    ),
    "insertInto append": lambda f, t, o: delta(f, "append", o).insertInto(t.name),
    "insertInto overwrite": lambda f, t, o: delta(f, "overwrite", o).insertInto(t.name),
    "writeTo append": lambda f, t, o: v2(f, t, o).append(),
    "writeTo overwrite": lambda f, t, o: v2(f, t, o).overwrite(lit(True)),
    "writeTo overwrite a part": lambda f, t, o: v2(f, t, o).overwrite(expr("c = 'x'")),
    "writeTo overwritePartitions": lambda f, t, o: v2(f, t, o).overwritePartitions(),
    "writeTo replace": lambda f, t, o: v2(f, t, o).using("delta").clusterBy("a", "b").replace(),
    "writeTo createOrReplace": lambda f, t, o: (
        v2(f, t, o).using("delta").clusterBy("a", "b").createOrReplace()
    ),
    "INSERT INTO": by_sql("INSERT INTO {} SELECT * FROM source"),
    "INSERT OVERWRITE": by_sql("INSERT OVERWRITE {} SELECT * FROM source"),
    "INSERT OVERWRITE dynamic": dynamically(by_sql("INSERT OVERWRITE {} SELECT * FROM source")),
    "INSERT REPLACE WHERE": by_sql("INSERT INTO {} REPLACE WHERE c = 'x' SELECT * FROM source"),
    "INSERT REPLACE WHERE true": by_sql("INSERT INTO {} REPLACE WHERE 1 = 1 SELECT * FROM source"),
}

# Delta itself rejects clusterBy of Spark's writer; without it, it does the same except for the
# columns.
BY_DELTA = {
    "writeTo replace": lambda f, t, o: v2(f, t, o).using("delta").replace(),
    "writeTo createOrReplace": lambda f, t, o: v2(f, t, o).using("delta").createOrReplace(),
    "saveAsTable overwrite clusterBy": WRITES["saveAsTable overwrite"],
}

# Each goes another way through Spark or Delta; the others differ from one of them in the mode only.
ALWAYS = [
    "save append",
    "save overwrite clusterBy",
    "saveAsTable overwrite",
    "insertInto overwrite",
    "writeTo overwritePartitions",
    "INSERT OVERWRITE",
]
WRITTEN = [write for write in WRITES if write in rest_at_night(ALWAYS, list(WRITES))]
GROUPS = {
    "save": [write for write in WRITTEN if write.startswith("save ")],
    "table": [write for write in WRITTEN if write.startswith(("saveAsTable", "insertInto"))],
    "writeTo": [write for write in WRITTEN if write.startswith("writeTo")],
    "settings": [write for write in WRITTEN if write.startswith("INSERT")]
    + rest_at_night(["saveAsTable overwrite"], ["save overwrite", "insertInto overwrite"]),
}


def is_plain(spark):
    return spark.conf.get("spark.zcube.enabled", "true") == "false"


@pytest.mark.parametrize("group", cases(GROUPS, {"save"}))
def test_a_replay_writes_nothing_caches_are_fresh_and_plans_are_deltas(spark, twins, group):
    """Each write succeeds once; data written in between stays; caches are fresh."""

    def replay(table, number, name, observed):
        write = BY_DELTA.get(name, WRITES[name]) if is_plain(spark) else WRITES[name]
        data = rows(spark, number, number + 5)
        options = {"txnAppId": name, "txnVersion": "1", "userMetadata": name}

        def once():
            if group == "settings":
                with transaction_settings(spark, name, 1):
                    write(data, table, {})
            else:
                write(data, table, options)

        by_path, by_name = spark.read.format("delta").load(table.path), spark.table(table.name)
        for cached in (by_path, by_name):
            cached.cache().count()
        with PlansSeen.of(spark) as plans:
            once()
        now = [spark.read.format("delta").load(table.path).count(), spark.table(table.name).count()]
        spark.catalog.clearCache()
        WRITES["save append"](rows(spark, 900 + number, 901 + number, "w"), table, {})
        newer = last_version(table.path)
        once()
        # Without a commit no row can have come or gone.
        assert last_version(table.path) == newer, name
        observed.append((name, now, plans.seen))

    def scenario(table):
        table.create()
        WRITES["save append"](rows(spark, 0, 4, "w"), table, {})
        observed = []
        for number, name in enumerate(GROUPS[group]):
            replay(table, number, name, observed)
            if not is_plain(spark):
                assert clustering_columns(table.path) == ["a", "b"], name
        return observed, table.state()

    (ours, our_state), (theirs, their_state) = twins(scenario)
    for mine, plain in zip(ours, theirs, strict=True):
        assert mine == plain
    for mine, plain in zip(our_state.pop("history"), their_state.pop("history"), strict=True):
        assert mine == plain
    assert our_state == their_state


# Complete overwrites, each through a different path in Spark.
OVERWRITES = [
    "save overwrite",
    "saveAsTable overwrite",
    "insertInto overwrite",
    "writeTo overwrite",
    "writeTo overwritePartitions",
]


def same(twins, scenario):
    """Run the scenario on both tables, and compare what it returns and the tables' states."""
    ours, theirs = twins(lambda table: (scenario(table), table.state()))
    assert ours[0] == theirs[0]
    for mine, plain in zip(ours[1].pop("history"), theirs[1].pop("history"), strict=True):
        assert mine == plain
    assert ours[1] == theirs[1]
    return ours[0]


@pytest.mark.parametrize("name", cases(OVERWRITES, set()))
def test_a_changed_schema_is_taken_or_rejected_as_by_delta(spark, twins, name):
    by_name = not name.startswith("insertInto")

    def scenario(table):
        table.create(properties={"delta.columnMapping.mode": "name"})
        WRITES["save append"](rows(spark, 0, 4), table, {})
        more = rows(spark, 0, 5).withColumn("d", lit(1))
        attempts = [
            (more, {}),
            (more, {"mergeSchema": "true"}),
            (rows(spark, 0, 6).withColumn("b", expr("map(1, 2)")), {}),
            (more.select("b", "d", "a") if by_name else more, {"overwriteSchema": "true"}),
        ]
        return [condition_of(lambda w=w: WRITES[name](w[0], table, w[1])) for w in attempts]

    conditions = same(twins, scenario)
    assert conditions[0] is not None
    assert conditions[1] is None


@pytest.mark.parametrize("layout", cases(["", "PARTITIONED BY (b)"], set()))
def test_tables_that_are_not_clustered_are_written_as_by_delta(spark, tmp_path, delta_only, layout):
    """ZCube sees their writes too."""
    names = [name for name in WRITTEN if "clusterBy" not in name and not name.startswith("writeTo")]

    def written(table):
        table.create(layout=layout)
        WRITES["save append"](rows(spark, 0, 7), table, {})
        for number, name in enumerate(names):
            options = {} if name.startswith("INSERT") else {"txnAppId": name, "txnVersion": "1"}
            for _ in range(2):
                WRITES[name](rows(spark, number, number + 5), table, options)
        return table.rows(), table.columns(), table.state()

    ours, theirs = (WrittenTable(spark, f"plain{n}", str(tmp_path / f"plain{n}")) for n in (0, 1))
    try:
        found = written(ours)
        with delta_only():
            expected = written(theirs)
    finally:
        for table in (ours, theirs):
            spark.sql(f"DROP TABLE IF EXISTS {table.name}")
    assert found == expected
    assert found[1] == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["save overwrite", "saveAsTable overwrite"])
def test_rows_that_lack_a_clustering_column_keep_it_until_the_schema_changes(spark, twins, name):
    """The columns stay as long as the table has them; only a different schema removes them."""
    left = []

    def scenario(table):
        table.create()
        WRITES["save append"](rows(spark, 0, 4), table, {})
        without = rows(spark, 0, 5).drop("b")
        WRITES[name](without, table, {})
        left.append(table.columns())
        nulls = table.rows()
        WRITES[name](without, table, {"overwriteSchema": "true"})
        left.append(table.columns())
        spark.sql(f"ALTER TABLE {table.name} ADD COLUMN b INT")
        spark.sql(f"ALTER TABLE {table.name} CLUSTER BY (a, b)")
        return nulls

    assert same(twins, scenario) == [f"Row(a={a}, b=None, c='x')" for a in range(5)]
    assert left == [["a", "b"], [], [], []]


SPELLED = {
    "another case": (["7L A", "8 B", "'z' C"], "Row(a=7, b=8, c='z')"),
    "another case, one left out": (["'z' C", "7L A"], "Row(a=7, b=None, c='z')"),
    "a NULL of no type": (["7L a", "NULL b", "'z' c"], "Row(a=7, b=None, c='z')"),
}


@pytest.mark.parametrize(
    ("name", "columns"),
    cases(
        itertools.product(["save overwrite", "saveAsTable overwrite"], SPELLED),
        {
            ("save overwrite", "a NULL of no type"),
            ("saveAsTable overwrite", "another case, one left out"),
        },
    ),
)
def test_a_clustering_column_in_another_spelling_or_type_is_kept(spark, twins, name, columns):
    selected, expected = SPELLED[columns]
    left = []

    def scenario(table):
        table.create()
        WRITES["save append"](rows(spark, 0, 4), table, {})
        WRITES[name](spark.range(1).selectExpr(*selected), table, {})
        left.append(table.columns())
        return table.rows()

    assert same(twins, scenario) == [expected]
    assert left[0] == ["a", "b"]


@pytest.mark.parametrize(
    "name", cases(["save overwrite", "saveAsTable overwrite"], {"save overwrite"})
)
def test_a_generated_column_of_a_missing_one_is_rejected(spark, twins, name):
    """No row of the table may be replaced by NULLs that plain Delta rejects."""

    def scenario(table):
        table.create_generated()
        spark.sql(f"INSERT INTO {table.name} (a, b) VALUES (1, 2)")
        frame = spark.range(1).selectExpr("8 b")
        return condition_of(lambda: WRITES[name](frame, table, {})), table.rows()

    condition, left = same(twins, scenario)
    assert condition is not None
    assert left == ["Row(a=1, b=2, c='1')"]


@pytest.mark.parametrize(
    "name", cases(["save overwrite", "saveAsTable overwrite"], {"saveAsTable overwrite"})
)
def test_a_missing_column_is_kept_beside_one_generated_from_others(spark, twins, name):
    left = []

    def scenario(table):
        table.create_generated()
        WRITES[name](spark.range(1).selectExpr("8L a"), table, {})
        left.append(table.columns())
        return table.rows()

    assert same(twins, scenario) == ["Row(a=8, b=None, c='8')"]
    assert left[0] == ["a", "b"]


def test_two_columns_of_a_name_are_rejected_as_by_delta(spark, twins):
    def scenario(table):
        table.create()
        frame = spark.range(1).selectExpr("8 a", "9 a", "1 b")
        return condition_of(lambda: WRITES["saveAsTable overwrite"](frame, table, {}))

    assert same(twins, scenario) == "COLUMN_ALREADY_EXISTS"


@pytest.mark.long
def test_streams_write_as_by_delta_and_keep_the_columns(spark, twins, tmp_path):
    source = str(tmp_path / "source")
    for start in (0, 10):
        rows(spark, start, start + 5).write.format("delta").mode("append").save(source)

    def each(table):
        def write(batch, number):
            overwrite = delta(batch, "overwrite" if number == 0 else "append", {})
            overwrite.options(txnAppId="each", txnVersion=str(number)).clusterBy("a", "b").save(
                table.path
            )

        return write

    left = []

    def scenario(table):
        table.create()
        number = itertools.count()

        def run(stream, mode, start):
            place = f"{table.path}-checkpoint{next(number)}"
            writer = stream.writeStream.outputMode(mode).option("checkpointLocation", place)
            query = start(writer.format("delta").trigger(availableNow=True))
            query.awaitTermination()
            left.append((table.columns(), table.rows()))

        def read():
            stream = spark.readStream.format("delta").option("maxFilesPerTrigger", 1)
            return stream.load(source)

        complete = read().groupBy("a", "b", "c").count().drop("count")
        run(read(), "append", lambda w: w.start(table.path))
        by_name, by_path = (lambda w: w.toTable(table.name)), (lambda w: w.start(table.path))
        for start in rest_at_night([by_name], [by_path]):
            run(complete, "complete", start)
        for _ in range(2):
            # The second time, only the table's log knows about the first.
            run(read(), "append", lambda w: w.foreachBatch(each(table)).start())
        return table.rows()

    ids = [*range(5), *range(10, 15)]
    expected = sorted(f"Row(a={i}, b={i % 3}, c='x')" for i in ids)
    assert same(twins, scenario) == expected
    # After each stream; the second half of the list is by plain Delta, whose columns are not compared.
    assert left[: len(left) // 2] == [(["a", "b"], expected)] * (len(left) // 2)
    assert len(left) >= 8


def test_a_plan_that_zcube_carries_out_has_the_class_of_deltas_optimize(spark, path, job_counter):
    rows(spark, 0, 100).write.format("delta").clusterBy("a", "b").save(path)
    with job_counter() as jobs, PlansSeen.of(spark) as plans:
        spark.sql(f"OPTIMIZE delta.`{path}`").collect()
    command = "org.apache.spark.sql.delta.commands.OptimizeTableCommand"
    assert (command, command) in [(seen[2], seen[3]) for seen in plans.seen]
    # And ZCube did the work.
    assert jobs.described("OPTIMIZE by (a, b)")
