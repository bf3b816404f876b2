"""Values that a rewrite must store exactly, whatever the session's settings."""

import pytest
from pyspark.sql import Row

from tests.support import written_log
from tests.support.checksum import multiset

CLAUSES = ["ZORDER BY (x)", "FULL"]


def optimize(spark, path, clause):
    spark.sql(f"OPTIMIZE delta.`{path}` {clause}")


@pytest.mark.parametrize("set_in", ["session", "table", "hadoop"])
@pytest.mark.parametrize("clause", CLAUSES)
def test_timestamps_keep_their_microseconds(spark, path, clause, set_in):
    cluster_by = "CLUSTER BY (x)" if clause == "FULL" else ""
    spark.sql(f"CREATE TABLE delta.`{path}` (ts TIMESTAMP, x INT) USING delta {cluster_by}")
    for start in (0, 500):
        spark.sql(
            f"INSERT INTO delta.`{path}` SELECT timestamp_micros(1700000000000000 + id), int(id) "
            f"FROM range({start}, {start + 500}, 1, 1)"
        )
    key, encoding = "spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS"
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    if set_in == "session":
        spark.conf.set(key, encoding)
    elif set_in == "table":
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('{key}' = '{encoding}')")
    else:
        hadoop.set(key, encoding)
    try:
        optimize(spark, path, clause)
    finally:
        hadoop.unset(key)
    found = spark.read.format("delta").load(path).selectExpr("unix_micros(ts) u", "x").collect()
    assert {(row.u, row.x) for row in found} == {(1700000000000000 + n, n) for n in range(1000)}


def test_partitions_by_time_stay_where_clocks_go_back(spark, path):
    """Both times are 01:30 in New York, an hour apart."""
    times = ("2023-11-05 05:30:00", "2023-11-05 06:30:00")
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)")
    for time in times:
        for start in (0, 30):
            spark.sql(
                f"INSERT INTO delta.`{path}` SELECT int(id), timestamp '{time}' "
                f"FROM range({start}, {start + 30}, 1, 1)"
            )
    before = multiset(spark.read.format("delta").load(path))
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    optimize(spark, path, "ZORDER BY (x)")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert multiset(spark.read.format("delta").load(path)) == before
    counts = spark.read.format("delta").load(path).groupBy("ts").count().collect()
    assert sorted(row["count"] for row in counts) == [60, 60]


def test_a_partition_value_equal_to_hives_name_for_null_stays_a_string(spark, path):
    """From another writer: the log has the string that is also Hive's folder name for NULL."""
    text = "__HIVE_DEFAULT_PARTITION__"
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, p STRING) USING delta PARTITIONED BY (p)")
    for start in (0, 30):
        spark.sql(
            f"INSERT INTO delta.`{path}` SELECT int(id), 'b' "
            f"FROM range({start}, {start + 30}, 1, 1)"
        )
    for version in (1, 2):
        written_log.edit(path, version, "add", lambda add: add["partitionValues"].update(p=text))
    spark.sql(f"REFRESH TABLE delta.`{path}`")
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    read = spark.read.format("delta").load(path).groupBy("p").count()
    assert read.collect() == [Row(p=text, count=60)]
    optimize(spark, path, "ZORDER BY (x)")
    read = spark.read.format("delta").load(path).groupBy("p").count()
    assert read.collect() == [Row(p=text, count=60)]


@pytest.mark.parametrize(
    ("setting", "value", "zone"),
    [
        ("spark.sql.legacy.timeParserPolicy", "LEGACY", "Asia/Shanghai"),
        ("spark.sql.legacy.timeParserPolicy", "LEGACY", "America/Los_Angeles"),
        ("spark.sql.legacy.timeParserPolicy", "LEGACY", "Asia/Riyadh"),
        ("spark.sql.files.supportSecondOffsetFormat", "false", "Asia/Shanghai"),
    ],
)
def test_statistics_of_extreme_times_hide_no_rows(spark, path, setting, value, zone):
    """Shanghai's offset was 8:05:43 until 1901, for Java's old classes 8:00; Riyadh's 3:06:52 until 1947."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    times = [
        "0001-01-01",
        "1582-10-10",
        "1850-01-01",
        "1940-01-01",
        "2024-01-01",
        "9999-12-31 23:59:59",
    ]
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, ts TIMESTAMP) USING delta")
    for start in (0, 60):
        spark.sql(
            f"INSERT INTO delta.`{path}` SELECT int(id), "
            f"timestamp(element_at(array{tuple(times)}, int(1 + id % 6))) "
            f"FROM range({start}, {start + 60}, 1, 1)"
        )
    spark.conf.set(setting, value)
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "20")
    optimize(spark, path, "ZORDER BY (ts)")
    for reads_with_it in (True, False):
        if not reads_with_it:
            spark.conf.unset(setting)
        spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
        found = spark.read.format("delta").load(path)
        assert len(found.inputFiles()) >= 6
        for time in times:
            rows = found.where(f"ts = TIMESTAMP'{time}'")
            assert rows.count() == 20
            assert len(rows.inputFiles()) < len(found.inputFiles())


@pytest.mark.parametrize("clause", CLAUSES)
def test_files_that_spell_a_column_in_another_case_keep_its_values(spark, path, clause):
    for start, name in ((0, "id"), (30, "ID")):
        rows = spark.range(start, start + 30, 1, 1).selectExpr(f"id AS {name}", "id AS x")
        rows.write.mode("append").parquet(path)
    spark.sql(f"CONVERT TO DELTA parquet.`{path}`")
    if clause == "FULL":
        spark.sql(f"ALTER TABLE delta.`{path}` CLUSTER BY (x)")
    spark.conf.set("spark.sql.caseSensitive", "true")
    optimize(spark, path, clause)
    spark.conf.unset("spark.sql.caseSensitive")
    found = spark.read.format("delta").load(path).selectExpr("id", "x").collect()
    assert sorted(found) == [Row(id=n, x=n) for n in range(60)]


def test_structs_whose_fields_a_file_lacks_stay_structs(spark, path):
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id INT, s STRUCT<a: INT>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for start in (0, 10):
        spark.sql(
            f"INSERT INTO delta.`{path}` SELECT int(id), if(id % 2 = 0, named_struct('a', 1), NULL) "
            f"FROM range({start}, {start + 10}, 1, 1)"
        )
    spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN s.b INT")
    spark.sql(f"ALTER TABLE delta.`{path}` DROP COLUMN s.a")

    def nulls():
        return spark.read.format("delta").load(path).where("s IS NULL").count()

    before = nulls()
    spark.conf.set("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing", "true")
    optimize(spark, path, "ZORDER BY (id)")
    spark.conf.unset("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing")
    assert nulls() == before


def test_files_whose_log_entries_lack_a_null_partition_are_rewritten(spark, path):
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, p STRING) USING delta PARTITIONED BY (p)")
    for start in (0, 30):
        spark.sql(
            f"INSERT INTO delta.`{path}` SELECT int(id), NULL "
            f"FROM range({start}, {start + 30}, 1, 1)"
        )
    for version in (1, 2):
        written_log.edit(path, version, "add", lambda add: add["partitionValues"].pop("p"))
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    optimize(spark, path, "ZORDER BY (x)")
    found = spark.read.format("delta").load(path)
    assert sorted(found.collect()) == [Row(x=n, p=None) for n in range(60)]
    assert len(found.inputFiles()) == 1
