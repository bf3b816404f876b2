"""OPTIMIZE … ZORDER BY, on the kinds of tables that Delta has."""

import os
import re
import shutil
from pathlib import Path

import pyspark
import pytest
from delta.tables import DeltaTable, IdentityGenerator
from pyspark.errors import PySparkException, QueryExecutionException
from zcube import ClusteredTable

from tests.reference import overlaps
from tests.support import checksum
from tests.support.log_replay import actions, last_version, live_files
from tests.support.matrix import cases
from tests.support.tables import extents
from tests.support.templates import written_once

ROOT = Path(__file__).resolve().parents[2]


@written_once
def write(spark, path, rows=4000, files=6, **options):
    df = spark.range(0, rows, 1, files).selectExpr(
        "id", "hash(id) x", "hash(id, 1) & 255 y", "cast(id % 50 AS string) s", "id % 3 p"
    )
    writer = df.write.format("delta")
    for key, value in options.items():
        writer = writer.option(key.replace("__", "."), value)
    writer.save(path)


def optimize(spark, path, clause="ZORDER BY (x, y)"):
    """Run it and check that the rows are the same as before; return the metrics."""
    before = checksum.multiset(spark.read.format("delta").load(path))
    metrics = spark.sql(f"OPTIMIZE delta.`{path}` {clause}").collect()[0]["metrics"]
    assert checksum.multiset(spark.read.format("delta").load(path)) == before
    return metrics


def files_on_disk(path):
    return {
        os.path.relpath(os.path.join(folder, f), path)
        for folder, _, names in os.walk(path)
        for f in names
        if f.endswith(".parquet") and "_delta_log" not in folder
    }


def small_files(spark, size):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size))


def test_result_and_history_are_as_deltas_and_no_data_changes(spark, path):
    write(spark, path)
    small_files(spark, 16 << 10)
    metrics = optimize(spark, path)
    spark.conf.set("spark.zcube.enabled", "false")
    delta = spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y)")
    assert set(metrics.asDict()) == set(delta.collect()[0]["metrics"].asDict())
    spark.conf.set("spark.zcube.enabled", "true")
    zcube = spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y)")
    assert zcube.schema == delta.schema
    row = zcube.collect()[0]
    assert row.path == f"file:{path}"
    stats = row.metrics.zOrderStats
    assert stats.strategyName == "all"
    assert stats.inputOtherFiles.num == row.metrics.numFilesRemoved == stats.mergedFiles.num
    assert (stats.inputCubeFiles.num, stats.inputNumCubes, stats.numOutputCubes) == (0, 0, 1)
    history = DeltaTable.forPath(spark, path).history().collect()
    ours, theirs = history[0], history[1]
    assert ours.operation == theirs.operation == "OPTIMIZE"
    assert ours.operationParameters.items() > theirs.operationParameters.items()
    assert set(ours.operationMetrics) > set(theirs.operationMetrics)
    added = {*ours.operationParameters, *ours.operationMetrics}
    added -= {*theirs.operationParameters, *theirs.operationMetrics}
    reference = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
    section = reference.split("## History")[1].split("## ")[0]
    assert added == set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
    commit = actions(path, last_version(path))
    changes = [a[k]["dataChange"] for a in commit for k in ("add", "remove") if k in a]
    assert changes
    assert not any(changes)


REJECTIONS = [
    ("ZORDER BY (nope)", {}),
    ("ZORDER BY (p)", {"partition": True}),
    ("WHERE x > 3 ZORDER BY (y)", {"partition": True}),
    ("ZORDER BY (late)", {"indexed": "1"}),
    ("ZORDER BY (x)", {"clustered": True}),
    ("WHERE nope = 3 ZORDER BY (y)", {"partition": True}),
]


@pytest.mark.parametrize(("clause", "kind"), REJECTIONS)
def test_the_same_rejections_as_delta(spark, path, clause, kind):
    clustering = "CLUSTER BY (y)" if kind.get("clustered") else ""
    partitioned = "PARTITIONED BY (p)" if kind.get("partition") else ""
    properties = f"TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '{kind.get('indexed', 32)}')"
    spark.sql(
        f"CREATE TABLE delta.`{path}` (x INT, y INT, late INT, p INT) USING delta "
        f"{partitioned} {clustering} {properties}"
    )
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id, id, id, id % 2 FROM range(100)")
    conditions = []
    for enabled in ("false", "true"):
        spark.conf.set("spark.zcube.enabled", enabled)
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{path}` {clause}")
        conditions.append((error.value.getCondition(), type(error.value)))
    assert conditions[0] == conditions[1]
    assert conditions[0][0]


def test_the_check_of_statistics_can_be_switched_off(spark, path):
    spark.sql(
        f"CREATE TABLE delta.`{path}` (a INT, late INT) USING delta "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')"
    )
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id, id FROM range(100)")
    spark.conf.set("spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled", "false")
    assert optimize(spark, path, "ZORDER BY (late)").numFilesAdded == 1


def test_what_is_no_delta_table_is_rejected(spark, tmp_path):
    for enabled in ("false", "true"):
        spark.conf.set("spark.zcube.enabled", enabled)
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{tmp_path}/nothing` ZORDER BY (x)")
        assert error.value.getCondition() == "DELTA_MISSING_DELTA_TABLE"


@pytest.mark.parametrize("columns", cases(["x, y", "x, y, s, id"], {"x, y, s, id"}))
def test_one_sampling_and_one_rewriting_job(spark, path, columns, job_counter):
    write(spark, path)
    with job_counter() as ran:
        optimize(spark, path, f"ZORDER BY ({columns})")
    ours = [job.description for job in ran.described(f"OPTIMIZE by ({columns})")]
    assert len(ours) == 2
    assert all(path in d for d in ours)
    assert ours[0].endswith("sampling")
    assert "writing" in ours[1]


def test_switched_off_it_is_deltas(spark, path, job_counter):
    write(spark, path)
    spark.conf.set("spark.zcube.enabled", "false")
    with job_counter() as ran:
        optimize(spark, path)
    assert not ran.described("OPTIMIZE by")
    assert sum("RangePartitionId" in job.description for job in ran.described("sampling")) >= 2


def test_delta_table_api_is_taken_over(spark, path, job_counter):
    write(spark, path)
    small_files(spark, 16 << 10)
    before = checksum.multiset(spark.read.format("delta").load(path))

    def depth():
        return overlaps.boxes([extents(path, "x"), extents(path, "y")])["maximum_depth"]

    # Each of the six files holds hashes from everywhere.
    assert depth() == 6
    with job_counter() as ran:
        DeltaTable.forPath(spark, path).optimize().executeZOrderBy("x", "y")
    assert len(ran.described("OPTIMIZE by (x, y)")) == 2
    assert {file.tags["ZCUBE_ZORDER_BY"] for file in live_files(path)} == {'["x","y"]'}
    assert len(live_files(path)) >= 4
    assert depth() < 3, depth()
    assert checksum.multiset(spark.read.format("delta").load(path)) == before


@pytest.mark.long
def test_a_table_may_be_named_by_one_to_three_parts(spark, name, job_counter):
    spark.sql(f"CREATE TABLE {name} USING delta AS SELECT id x, hash(id) y FROM range(1000)")
    for table in (name, f"default.{name}", f"spark_catalog.default.{name}"):
        result = ClusteredTable.for_name(spark, table).optimize(zorder_by=["x", "y"], full=True)
        assert result.files_added == 1
    with job_counter() as ran:
        spark.sql(f"OPTIMIZE {name} FULL ZORDER BY x, y")
    assert any(d.startswith(f"spark_catalog.default.{name}: OPTIMIZE") for d in ran.descriptions)


@pytest.mark.long
def test_each_partition_is_laid_out_by_itself(spark, path, job_counter):
    odd = ["NULL", "''", "'a b'", "'a/b=c'", "'ü%:'", "'__HIVE_DEFAULT'", "'x'"]
    values = ", ".join(f"({i}, {v})" for i, v in enumerate(odd))
    spark.sql(
        f"SELECT r.id, hash(r.id) x, v.p, DATE'2026-01-01' + v.i d FROM range(2000) r "
        f"JOIN (VALUES {values} AS v(i, p)) v ON r.id % {len(odd)} = v.i"
    ).repartition(3).write.format("delta").partitionBy("p", "d").save(path)
    spark.conf.set("spark.databricks.delta.optimize.maxThreads", "2")
    with job_counter() as ran:
        metrics = optimize(spark, path, "ZORDER BY (x, id)")
    assert metrics.partitionsOptimized == len(odd) == metrics.numFilesAdded
    assert metrics.zOrderStats.numOutputCubes == len(odd)
    # One job samples all of these small partitions, and one writes them.
    assert len(ran.described("OPTIMIZE by")) == 2
    # A partition's only file is rewritten again by the next run, other partitions are left alone.
    metrics = optimize(spark, path, "WHERE p = 'a/b=c' ZORDER BY (x)")
    assert (metrics.partitionsOptimized, metrics.numFilesRemoved) == (1, 1)
    metrics = optimize(spark, path, "WHERE p IS NULL AND d < '2030-01-01' ZORDER BY (x)")
    assert metrics.partitionsOptimized == 2  # NULL, and '' which Delta stores as NULL
    table = ClusteredTable.for_path(spark, path)
    assert table.optimize(zorder_by=["x"], where="p = 'ü%:'").partitions == 1


@pytest.mark.parametrize("mode", cases(["name", "id"], {"name"}))
def test_mapped_columns_with_odd_names_are_ordered(spark, path, mode):
    spark.sql(
        f"CREATE TABLE delta.`{path}` (`a b` INT, `c.d` INT, s STRUCT<`e f`: INT, g: INT>, `a) ; DROP` INT)"
        f" USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
    )
    spark.sql(
        f"INSERT INTO delta.`{path}` SELECT id, hash(id), named_struct('e f', id % 7, 'g', id), -id "
        "FROM range(3000)"
    )
    small_files(spark, 8 << 10)
    optimize(spark, path, "ZORDER BY (`a b`, `c.d`, s.`e f`)")
    table = ClusteredTable.for_path(spark, path)
    before = checksum.multiset(spark.read.format("delta").load(path))
    for column in ("a b", "`c.d`", "s.g", "a) ; DROP"):
        table.optimize(zorder_by=[column])
    assert checksum.multiset(spark.read.format("delta").load(path)) == before
    files = spark.read.format("delta").load(path).where("`a) ; DROP` = -1500").inputFiles()
    assert len(files) == 1


def test_deletion_vectors_are_purged(spark, path):
    write(spark, path, delta__enableDeletionVectors="true")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 3")
    assert any("deletionVector" in str(a) for a in actions(path, last_version(path)))
    metrics = optimize(spark, path)
    assert metrics.deletionVectorStats.numDeletionVectorRowsRemoved == 400
    adds = [a["add"] for a in actions(path, last_version(path)) if "add" in a]
    assert adds
    assert not any(a.get("deletionVector") for a in adds)
    assert spark.read.format("delta").load(path).count() == 3600


def test_row_ids_are_kept(spark, path):
    write(spark, path, delta__enableRowTracking="true")

    def ids():
        df = spark.read.format("delta").load(path)
        found = df.selectExpr(
            "id", "_metadata.row_id r", "_metadata.row_commit_version v"
        ).collect()
        return {row.id: (row.r, row.v) for row in found}

    before = ids()
    assert len({r for r, _ in before.values()}) == 4000
    small_files(spark, 16 << 10)
    optimize(spark, path)
    assert ids() == before


def test_the_change_feed_has_no_rows_of_an_optimize(spark, path):
    write(spark, path, delta__enableChangeDataFeed="true")
    optimize(spark, path)
    version = DeltaTable.forPath(spark, path).history(1).collect()[0].version
    changes = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", version)
        .load(path)
    )
    assert changes.count() == 0


def test_generated_identity_and_checked_columns_keep_their_values(spark, name):
    table = (
        DeltaTable.create(spark)
        .tableName(name)
        .addColumn("x", "INT")
        .addColumn("d", "DATE")
        .addColumn("year", "INT", generatedAlwaysAs="year(d)")
    )
    table.execute()
    spark.sql(
        f"INSERT INTO {name} (x, d) SELECT id, DATE'2000-01-01' + cast(id AS INT) FROM range(3000)"
    )
    spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT positive CHECK (x >= 0)")
    before = checksum.multiset(spark.table(name))
    spark.sql(f"OPTIMIZE {name} ZORDER BY (year, x)")
    assert checksum.multiset(spark.table(name)) == before
    spark.sql(f"DROP TABLE {name}")
    # In SQL identity columns need Spark 4.2.
    (
        DeltaTable.create(spark)
        .tableName(name)
        .addColumn("k", "BIGINT", generatedAlwaysAs=IdentityGenerator())
        .addColumn("x", "INT")
        .execute()
    )
    spark.sql(f"INSERT INTO {name} (x) SELECT id FROM range(100)")
    before = checksum.multiset(spark.table(name))
    spark.sql(f"OPTIMIZE {name} ZORDER BY (k)")
    assert checksum.multiset(spark.table(name)) == before
    spark.sql(f"INSERT INTO {name} (x) SELECT id FROM range(100)")
    assert spark.table(name).select("k").distinct().count() == 200


def test_a_table_without_files_is_left_alone(spark, path):
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, y INT) USING delta")
    version = DeltaTable.forPath(spark, path).history(1).collect()[0].version
    metrics = optimize(spark, path)
    assert (metrics.numFilesAdded, metrics.numFilesRemoved) == (0, 0)
    assert DeltaTable.forPath(spark, path).history(1).collect()[0].version == version


@pytest.mark.long
def test_files_without_statistics_are_rewritten_without_loss(spark, path):
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    write.__wrapped__(spark, path)
    assert {f.rows for f in live_files(path)} == {None}
    assert optimize(spark, path).numFilesRemoved == 6
    spark.conf.set("spark.databricks.delta.stats.collect", "true")
    columns = ("id", "hash(id) x", "hash(id, 1) & 255 y", "cast(id % 50 AS string) s", "id % 3 p")
    more = spark.range(5000, 6000).selectExpr(*columns)
    more.write.format("delta").mode("append").save(path)
    optimize(spark, path)
    assert sum(f.rows for f in live_files(path)) == 5000
    expected = spark.range(4000).selectExpr(*columns).union(more)
    assert checksum.multiset(spark.read.format("delta").load(path)) == checksum.multiset(expected)


@pytest.mark.long
def test_null_values_are_gathered_and_columns_of_nulls_do_no_harm(spark, path):
    spark.range(3000).selectExpr(
        "id", "if(id % 5 = 0, NULL, hash(id)) x", "CAST(NULL AS STRING) n"
    ).write.format("delta").save(path)
    small_files(spark, 3 << 10)
    optimize(spark, path, "ZORDER BY (x, n)")
    files = live_files(path)
    with_nulls = [f for f in files if f.null_count["x"] > 0]
    assert len(files) > 3
    # A fifth of the rows are NULL; they are together at the start.
    assert len(with_nulls) <= len(files) / 5 + 2


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("'curv' = 'hilbert'", "ZCUBE_UNKNOWN_OPTION"),
        ("'curve' = 'peano'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'zorder', 'curve' = 'hilbert'", "ZCUBE_INVALID_OPTION"),
        ("'MAXBYTES' = '0'", "ZCUBE_INVALID_OPTION"),
        ("'maxBytes' = 'much'", "ZCUBE_INVALID_OPTION"),
        ("'maxDuration' = '5'", "ZCUBE_INVALID_OPTION"),
        ("'maxDuration' = '-5s'", "ZCUBE_INVALID_OPTION"),
        ("'minCubeSize' = ''", "ZCUBE_INVALID_OPTION"),
        ("'mergePolicy' = 'tiered'", "ZCUBE_INVALID_OPTION"),
        ("'details' = 'maybe'", "ZCUBE_INVALID_OPTION"),
    ],
)
def test_wrong_options_are_rejected(spark, path, options, condition):
    write(spark, path, rows=10, files=1)
    with pytest.raises(PySparkException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x) OPTIONS ({options})")
    assert error.value.getCondition() == condition


@pytest.mark.parametrize(
    "clauses",
    [
        "DRY RUN OPTIONS (curve = hilbert)",
        "OPTIONS (curve = hilbert) OPTIONS (maxBytes = 5)",
        "DRY RUN DRY RUN",
    ],
)
def test_clauses_in_another_order_or_given_twice_are_rejected(spark, path, clauses):
    write(spark, path, rows=10, files=1)
    with pytest.raises(PySparkException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x) {clauses}")
    assert error.value.getCondition() == "ZCUBE_NOT_OF_THE_FORM"
    assert "[OPTIONS ('key' = 'value', …)] [DRY RUN]" in str(error.value)


def test_options_are_rejected_without_zcube_or_zorder(spark, path):
    write(spark, path, rows=10, files=1)
    for enabled, clause, why in (
        ("true", "", "NO_COLUMNS"),
        ("false", "ZORDER BY (x)", "DISABLED"),
    ):
        spark.conf.set("spark.zcube.enabled", enabled)
        with pytest.raises(PySparkException) as error:
            spark.sql(f"OPTIMIZE delta.`{path}` {clause} OPTIONS ('curve' = 'hilbert')")
        assert error.value.getCondition() == f"ZCUBE_OPTIONS_NOT_SUPPORTED.{why}"


@pytest.mark.long
@pytest.mark.parametrize("curve", ["zorder", "hilbert", "linear", "HILBERT"])
def test_a_named_curve_has_nothing_to_do_a_second_time(spark, path, curve):
    write(spark, path)
    small_files(spark, 12 << 10)
    optimize(spark, path, f"/* why */ ZORDER BY (x, y) OPTIONS ( 'curve' = '{curve}' ) ;")
    table = ClusteredTable.for_path(spark, path)
    # The same curve again has nothing to do.
    assert table.optimize(zorder_by=["x", "y"], curve=curve).files_added == 0
    result = table.optimize(zorder_by=["x", "y"], curve=curve, full=True)
    assert result.files_added == len(live_files(path)) > 3
    assert "files" in str(result)
    assert result.to_dict()["files_added"] == result.files_added


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="Spark 4.0 has no entry point for them")
@pytest.mark.parametrize("text", ["SELECT :a AS a", "SELECT ? AS a"])
def test_parameters_of_spark_sql_reach_other_statements(spark, text):
    """ZCube's parser forwards the arguments of spark.sql, here to Spark's; Delta 4.4.0's loses them."""
    parsers = spark._jvm.org.apache.spark.sql.catalyst.parser
    integer = spark._jvm.org.apache.spark.sql.types.DataTypes.IntegerType
    literal = spark._jvm.org.apache.spark.sql.catalyst.expressions.Literal(7, integer)
    converters = spark._jvm.scala.jdk.javaapi.CollectionConverters
    if ":a" in text:
        named = spark._jvm.PythonUtils.toScalaMap({"a": literal})
        context = parsers.NamedParameterContext(named)
    else:
        context = parsers.PositionalParameterContext(converters.asScala([literal]).toSeq())
    sparks = spark._jvm.org.apache.spark.sql.execution.SparkSqlParser()
    parser = spark._jvm.io.zcube.sql.parser.ZCubeSqlParser(spark._jsparkSession, sparks)
    plan = parser.parsePlanWithParameters(text, context)
    assert re.fullmatch(r"'?Project \[7 AS a#\d+\]\n\+- OneRowRelation", plan.toString().strip())


@pytest.mark.long
def test_a_failure_in_the_middle_leaves_nothing_behind(spark, path):
    """A CHECK that fails for one row only under ANSI casts: some tasks succeed, one fails."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    spark.range(0, 20_000, 1, 4).selectExpr(
        "id", "hash(id) x", "if(id = 19999, 'abc', string(id)) s"
    ).write.format("delta").save(path)
    spark.sql(
        f"ALTER TABLE delta.`{path}` ADD CONSTRAINT c CHECK (coalesce(cast(s AS INT), 1) >= 0)"
    )
    small_files(spark, 20 << 10)
    before = files_on_disk(path)
    version = DeltaTable.forPath(spark, path).history(1).collect()[0].version
    spark.conf.set("spark.sql.ansi.enabled", "true")
    with pytest.raises(QueryExecutionException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x)")
    assert error.value.getCondition() == "ZCUBE_REWRITE_FAILED"
    assert "CAST_INVALID_INPUT" in str(error.value)
    assert files_on_disk(path) == before
    assert DeltaTable.forPath(spark, path).history(1).collect()[0].version == version


def test_the_users_session_is_left_alone(spark, path):
    write(spark, path)
    before = spark.conf.getAll
    spark.sparkContext.setLocalProperty("spark.job.description", "mine")
    try:
        optimize(spark, path)
        assert spark.sparkContext.getLocalProperty("spark.job.description") == "mine"
    finally:
        spark.sparkContext.setLocalProperty("spark.job.description", None)
    # Delta has the session's last commit there.
    last = {"spark.databricks.delta.lastCommitVersionInSession": str(last_version(path))}
    assert spark.conf.getAll == before | last


@pytest.mark.long
def test_old_versions_and_their_readers_stay(spark, path):
    write(spark, path)
    old = checksum.multiset(spark.read.format("delta").load(path))
    optimize(spark, path)
    travelled = spark.read.format("delta").option("versionAsOf", 0).load(path)
    assert checksum.multiset(travelled) == old
    copy = path + "-copy"
    shutil.copytree(path, copy)
    assert checksum.multiset(spark.read.format("delta").load(copy)) == old
