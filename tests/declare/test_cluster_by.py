"""Every way to declare CLUSTER BY makes a clustered table, and nothing loses the columns."""

import contextlib

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql.functions import lit
from zcube import ClusteredTable, ZCubeError

from tests.support.checksum import multiset
from tests.support.matrix import cases


def columns_of(spark, table):
    return spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["clusteringColumns"]


def rows(spark, count=200):
    return spark.range(count).selectExpr("id AS a", "hash(id) AS b", "string(id) AS c")


def by_name(name, path):
    return name


def by_path(name, path):
    return f"delta.`{path}`"


@pytest.mark.parametrize(
    ("target", "replaced"),
    cases(
        [(target, replaced) for target in (by_name, by_path) for replaced in (False, True)],
        {(by_name, False), (by_path, True)},
    ),
)
def test_sql_declares_the_columns(spark, name, path, target, replaced):
    table = target(name, path)
    create = "CREATE OR REPLACE TABLE" if replaced else "CREATE TABLE"
    spark.sql(f"{create} {table} (a BIGINT, b INT, c STRING) USING delta CLUSTER BY (b, a)")
    assert columns_of(spark, table) == ["b", "a"]
    spark.sql(
        f"CREATE OR REPLACE TABLE {table} USING delta CLUSTER BY (a) "
        "AS SELECT id a, hash(id) b, string(id) c FROM range(50)"
    )
    assert columns_of(spark, table) == ["a"]
    spark.sql(f"REPLACE TABLE {table} (a BIGINT, b INT) USING delta CLUSTER BY (b)")
    assert columns_of(spark, table) == ["b"]


@pytest.mark.parametrize("target", [by_name, by_path])
def test_create_table_as_select_declares_the_columns(spark, name, path, target):
    table = target(name, path)
    spark.sql(f"CREATE TABLE {table} USING delta CLUSTER BY (a, b) AS SELECT 1 a, 2 b")
    assert columns_of(spark, table) == ["a", "b"]


@pytest.mark.parametrize("mode", ["errorifexists", "ignore", "append", "overwrite"])
def test_save_as_table_declares_the_columns(spark, name, mode):
    rows(spark).write.format("delta").clusterBy("b", "a").mode(mode).saveAsTable(name)
    assert columns_of(spark, name) == ["b", "a"]
    assert multiset(spark.table(name)) == multiset(rows(spark))
    rows(spark).write.format("delta").clusterBy("a").mode("overwrite").saveAsTable(name)
    assert columns_of(spark, name) == ["a"]


def test_write_to_declares_the_columns(spark, name):
    rows(spark).writeTo(name).using("delta").clusterBy("a", "b").create()
    assert columns_of(spark, name) == ["a", "b"]
    rows(spark).writeTo(name).using("delta").clusterBy("b").replace()
    assert columns_of(spark, name) == ["b"]
    rows(spark).writeTo(name).using("delta").clusterBy("c").createOrReplace()
    assert columns_of(spark, name) == ["c"]
    rows(spark).writeTo(name).append()
    assert columns_of(spark, name) == ["c"]
    rows(spark).writeTo(name).overwrite(lit(True))
    assert columns_of(spark, name) == ["c"]


@pytest.mark.parametrize("mode", ["errorifexists", "ignore", "append", "overwrite"])
def test_save_by_path_declares_the_columns(spark, path, mode):
    rows(spark).write.format("delta").clusterBy("b", "a").mode(mode).save(path)
    assert columns_of(spark, f"delta.`{path}`") == ["b", "a"]
    assert multiset(spark.read.format("delta").load(path)) == multiset(rows(spark))


@pytest.mark.long
def test_save_by_path_checks_the_columns_of_an_existing_table(spark, path):
    table = f"delta.`{path}`"
    write = rows(spark).write.format("delta")
    write.clusterBy("a").save(path)
    rows(spark).write.format("delta").clusterBy("A").mode("append").save(path)
    assert spark.read.format("delta").load(path).count() == 400
    rows(spark).write.format("delta").clusterBy("a").mode("overwrite").save(path)
    assert columns_of(spark, table) == ["a"]
    assert spark.read.format("delta").load(path).count() == 200
    for mode in ("append", "overwrite"):
        with pytest.raises(PySparkException) as error:
            rows(spark).write.format("delta").clusterBy("b").mode(mode).save(path)
        assert error.value.getCondition() == "ZCUBE_CLUSTERING_MISMATCH"
    with pytest.raises(PySparkException):
        rows(spark).write.format("delta").clusterBy("a").save(path)
    rows(spark).write.format("delta").clusterBy("a").mode("ignore").save(path)
    assert spark.read.format("delta").load(path).count() == 200
    changing = rows(spark).write.format("delta").clusterBy("b").mode("overwrite")
    changing.option("overwriteSchema", "true").save(path)
    assert columns_of(spark, table) == ["b"]


def test_columns_are_the_same_in_any_spelling(spark, path):
    rows(spark).write.format("delta").clusterBy("a", "b").save(path)
    rows(spark).write.format("delta").clusterBy("`A`", "b").mode("append").save(path)
    assert spark.read.format("delta").load(path).count() == 400
    # Ignored values are not checked.
    many = rows(spark).selectExpr("*", "a d", "a e", "a f").write.format("delta").mode("ignore")
    many.clusterBy("a", "b", "d", "e", "f").save(path)
    assert columns_of(spark, f"delta.`{path}`") == ["a", "b"]


def test_an_unclustered_table_gets_columns_by_an_overwrite(spark, path):
    rows(spark).write.format("delta").save(path)
    overwrite = rows(spark).write.format("delta").clusterBy("b").mode("overwrite")
    with pytest.raises(PySparkException) as error:
        overwrite.save(path)
    assert error.value.getCondition() == "ZCUBE_CLUSTERING_MISMATCH"
    overwrite.option("overwriteSchema", "true").save(path)
    assert columns_of(spark, f"delta.`{path}`") == ["b"]


def test_append_and_overwrite_keep_the_columns(spark, name, path):
    rows(spark).write.format("delta").clusterBy("a", "b").saveAsTable(name)
    rows(spark).createOrReplaceTempView("source")
    table = f"delta.`{path}`"
    rows(spark).write.format("delta").clusterBy("a", "b").save(path)
    for write in (
        lambda: rows(spark).write.format("delta").mode("append").saveAsTable(name),
        lambda: rows(spark).write.mode("append").insertInto(name),
        lambda: rows(spark).write.mode("overwrite").insertInto(name),
        lambda: spark.sql(f"INSERT OVERWRITE {name} SELECT * FROM source"),
        lambda: rows(spark).writeTo(name).overwrite(lit(True)),
        lambda: rows(spark).writeTo(name).overwritePartitions(),
        lambda: rows(spark).write.format("delta").mode("overwrite").saveAsTable(name),
    ):
        write()
        assert columns_of(spark, name) == ["a", "b"]
        assert spark.table(name).where("a = 7").count() in (1, 2, 3)
    assert multiset(spark.table(name)) == multiset(rows(spark))
    for write in (
        lambda: rows(spark).write.format("delta").mode("append").save(path),
        lambda: rows(spark).write.format("delta").mode("overwrite").save(path),
        lambda: spark.sql(f"INSERT OVERWRITE {table} SELECT * FROM source"),
        lambda: (
            rows(spark)
            .write.format("delta")
            .mode("overwrite")
            .option("replaceWhere", "a < 10")
            .save(path)
        ),
    ):
        with contextlib.suppress(PySparkException):
            write()
        assert columns_of(spark, table) == ["a", "b"]


def test_an_overwrite_by_another_schema_may_drop_the_columns(spark, path):
    rows(spark).write.format("delta").clusterBy("a").save(path)
    other = spark.range(5).selectExpr("id AS z").write.format("delta").mode("overwrite")
    other.option("overwriteSchema", "true").save(path)
    assert spark.read.format("delta").load(path).columns == ["z"]
    assert columns_of(spark, f"delta.`{path}`") == []


def test_the_table_builder_declares_the_columns(spark, name):
    builder = DeltaTable.create(spark).tableName(name).addColumn("a", "INT").addColumn("b", "INT")
    builder.clusterBy("b", "a").execute()
    assert columns_of(spark, name) == ["b", "a"]


def test_create_table_like_keeps_the_columns(spark, name):
    rows(spark).write.format("delta").clusterBy("b", "a").saveAsTable(name)
    spark.sql(f"CREATE TABLE {name}_like LIKE {name}")
    spark.sql(f"CREATE TABLE IF NOT EXISTS {name}_like LIKE {name}")
    try:
        assert columns_of(spark, f"{name}_like") == ["b", "a"]
        assert spark.table(f"{name}_like").count() == 0
        assert spark.table(f"{name}_like").schema == spark.table(name).schema
        rows(spark).write.mode("append").insertInto(f"{name}_like")
        assert ClusteredTable.for_name(spark, f"{name}_like").optimize().files_added == 1
    finally:
        spark.sql(f"DROP TABLE {name}_like")


def test_create_table_like_is_spark_s_without_zcube(spark, name):
    rows(spark).write.format("delta").clusterBy("b", "a").saveAsTable(name)
    spark.conf.set("spark.zcube.enabled", "false")
    try:
        spark.sql(f"CREATE TABLE {name}_like LIKE {name}")
        assert columns_of(spark, f"{name}_like") == []
    finally:
        spark.conf.unset("spark.zcube.enabled")
        spark.sql(f"DROP TABLE IF EXISTS {name}_like")


def test_create_table_like_of_an_unclustered_table_declares_nothing(spark, name):
    spark.sql(f"CREATE TABLE {name} (a INT, p INT) USING delta PARTITIONED BY (p)")
    spark.sql(f"CREATE TABLE {name}_like LIKE {name}")
    spark.sql(f"CREATE TABLE {name}_pq (a INT) USING parquet")
    spark.sql(f"CREATE TABLE {name}_pq2 LIKE {name}_pq")
    try:
        assert columns_of(spark, f"{name}_like") == []
        detail = spark.sql(f"DESCRIBE DETAIL {name}_like").collect()[0]
        assert detail["partitionColumns"] == ["p"]
        assert spark.table(f"{name}_pq2").columns == ["a"]
    finally:
        for suffix in ("_like", "_pq", "_pq2"):
            spark.sql(f"DROP TABLE {name}{suffix}")


def test_columns_follow_alter_rename_and_drop(spark, name):
    rows(spark).write.format("delta").clusterBy("a").saveAsTable(name)
    table = ClusteredTable.for_name(spark, name)
    table.cluster_by("b", "a")
    assert table.clustering_columns == ["b", "a"] == columns_of(spark, name)
    spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN b TO bb")
    assert table.clustering_columns == ["bb", "a"]
    with pytest.raises(PySparkException) as error:
        spark.sql(f"ALTER TABLE {name} DROP COLUMN bb")
    assert error.value.getCondition() == "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"
    table.cluster_by(None)
    assert table.clustering_columns == []
    spark.sql(f"ALTER TABLE {name} DROP COLUMN bb")


def test_clone_and_restore_keep_the_columns(spark, name):
    rows(spark).write.format("delta").clusterBy("a").saveAsTable(name)
    ClusteredTable.for_name(spark, name).cluster_by("b")
    spark.sql(f"CREATE TABLE {name}_clone SHALLOW CLONE {name}")
    try:
        assert columns_of(spark, f"{name}_clone") == ["b"]
        ClusteredTable.for_name(spark, f"{name}_clone").optimize(full=True)
        assert multiset(spark.table(f"{name}_clone")) == multiset(rows(spark))
    finally:
        spark.sql(f"DROP TABLE {name}_clone")
    spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 0")
    assert columns_of(spark, name) == ["a"]


@pytest.mark.parametrize("write", ["sql", "save", "saveAsTable", "writeTo"])
@pytest.mark.parametrize(
    ("columns", "condition"),
    [
        (["a", "b", "c", "d", "e"], "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"),
        (["zzz"], None),
        (["m"], "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"),
    ],
)
def test_wrong_columns_are_rejected_by_every_way_to_declare_them(
    spark, name, path, write, columns, condition
):
    df = spark.range(3).selectExpr(
        "id a", "id b", "id c", "id d", "id e", "map(id, id) m", "array(id) r"
    )
    df.createOrReplaceTempView("source")
    delta = df.write.format("delta")
    ways = {
        "sql": lambda: spark.sql(
            f"CREATE TABLE {name} USING delta CLUSTER BY ({', '.join(columns)}) "
            "AS SELECT * FROM source"
        ),
        "save": lambda: delta.clusterBy(*columns).save(path),
        "saveAsTable": lambda: delta.clusterBy(*columns).saveAsTable(name),
        "writeTo": lambda: df.writeTo(name).using("delta").clusterBy(*columns).create(),
    }
    with pytest.raises(PySparkException) as error:
        ways[write]()
    if condition is not None:
        assert error.value.getCondition() == condition
    assert not spark.catalog.tableExists(name)
    assert not DeltaTable.isDeltaTable(spark, path)


def test_a_column_without_statistics_is_rejected(spark, path):
    with pytest.raises(PySparkException) as error:
        rows(spark).write.format("delta").clusterBy("c").option(
            "delta.dataSkippingNumIndexedCols", "2"
        ).save(path)
    assert error.value.getCondition() == "DELTA_CLUSTERING_COLUMN_MISSING_STATS"


def test_partitioned_tables_are_rejected(spark, name):
    spark.sql(f"CREATE TABLE {name} (a INT, p INT) USING delta PARTITIONED BY (p)")
    with pytest.raises(PySparkException):
        ClusteredTable.for_name(spark, name).cluster_by("a")
    with pytest.raises(PySparkException):
        rows(spark).write.format("delta").partitionBy("a").clusterBy("b").saveAsTable(name)


def test_cluster_by_rejects_wrong_arguments(spark, name):
    table = ClusteredTable.for_name(spark, name)
    for columns in [(), ("a", None), ("a", "A"), ("",)]:
        with pytest.raises(ZCubeError):
            table.cluster_by(*columns)


def test_switched_off_save_declares_nothing_as_in_delta(spark, path, delta_only):
    with delta_only():
        rows(spark).write.format("delta").clusterBy("a").save(path)
    assert columns_of(spark, f"delta.`{path}`") == []
