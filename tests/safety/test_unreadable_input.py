"""OPTIMIZE of unreadable files, or of files whose rows differ from the log."""

import itertools
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import QueryExecutionException
from zcube import ClusteredTable

from tests.support.checksum import multiset
from tests.support.log_replay import data_files_on_disk, last_version, live_files
from tests.support.matrix import cases
from tests.support.templates import written_once

SETTINGS = ["spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles"]


@written_once
def make(spark, path, clause=""):
    spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, x INT, s STRING) USING delta {clause}")
    spark.range(0, 4000, 1, 4).selectExpr("id", "hash(id) x", "string(id) s").write.format(
        "delta"
    ).mode("append").save(path)


def one_file(path):
    """One of the table's data files, and Hadoop's checksum of it."""
    file = Path(path) / sorted(data_files_on_disk(path))[1]
    return file, file.with_name(f".{file.name}.crc")


def overwrite_pages(file):
    """Simulate a bad disk: the footer is right, the pages are not."""
    data = file.read_bytes()
    middle = len(data) // 2
    file.write_bytes(b"PAR1" + b"\xff" * (middle - 4) + data[middle:])


def truncate(file):
    file.write_bytes(file.read_bytes()[:100])


def remove(file):
    file.unlink()


CLAUSES = ["", "CLUSTER BY (x)"]
DAMAGES = {damage.__name__: damage for damage in (overwrite_pages, truncate, remove)}


@pytest.mark.parametrize(
    ("clause", "damage"),
    cases(itertools.product(CLAUSES, DAMAGES), {("CLUSTER BY (x)", "truncate"), ("", "remove")}),
)
def test_a_file_that_cannot_be_read_fails_the_run(spark, path, tmp_path, clause, damage):
    make(spark, path, clause)
    before = multiset(spark.read.format("delta").load(path))
    file, checksum = one_file(path)
    checksum.unlink(missing_ok=True)
    shutil.copy(file, tmp_path / "good")
    files, version = data_files_on_disk(path), last_version(path)
    DAMAGES[damage](file)
    for setting in SETTINGS:
        spark.conf.set(setting, "true")
    # A query in this session omits those rows, which is why the setting is dangerous.
    assert len(spark.read.format("delta").load(path).collect()) < before.rows
    order = "" if clause else "ZORDER BY (x)"
    with pytest.raises(QueryExecutionException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` {order}")
    assert error.value.getCondition() == "ZCUBE_REWRITE_FAILED"
    with pytest.raises(QueryExecutionException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` {order} OPTIONS ('forecast' = 'true') DRY RUN")
    assert error.value.getCondition() == "ZCUBE_SAMPLE_FAILED"
    with pytest.raises(QueryExecutionException) as error:
        spark.sql(f"RECOMMEND CLUSTERING delta.`{path}` FOR 'x = 7'").collect()
    assert error.value.getCondition() == "ZCUBE_SAMPLE_FAILED"
    assert [spark.conf.get(setting) for setting in SETTINGS] == ["true", "true"]
    assert last_version(path) == version
    shutil.copy(tmp_path / "good", file)
    assert data_files_on_disk(path) == files
    assert multiset(spark.read.format("delta").load(path)) == before


def with_other_counts(path, copy, change):
    """Copy a table that hasn't been read yet, with different row counts in its log."""
    shutil.copytree(path, copy)
    for log in (Path(copy) / "_delta_log").iterdir():
        if log.suffix in (".crc", ".parquet") or log.name == "_last_checkpoint":
            log.unlink()
        elif log.suffix == ".json":
            actions = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
            for number, add in enumerate(a["add"] for a in actions if "add" in a):
                stats = json.loads(add["stats"])
                stats["numRecords"] = change(number, stats["numRecords"])
                add["stats"] = json.dumps({k: v for k, v in stats.items() if v is not None})
            log.write_text("".join(json.dumps(a) + "\n" for a in actions), encoding="utf-8")


@pytest.mark.parametrize("clause", CLAUSES)
def test_rows_are_compared_with_the_counts_of_the_log(spark, path, tmp_path, clause):
    make(spark, path, clause)
    order = "" if clause else "ZORDER BY (x)"
    copy = str(tmp_path / "copy")
    with_other_counts(path, copy, lambda number, rows: rows + 5 if number == 2 else rows)
    files, version = data_files_on_disk(copy), last_version(copy)
    wrong = next(f.path for f in live_files(copy) if f.rows == 1005)
    for dry in ("", "OPTIONS ('forecast' = 'true') DRY RUN"):
        with pytest.raises(QueryExecutionException) as error:
            spark.sql(f"OPTIMIZE delta.`{copy}` {order} {dry}")
        assert error.value.getCondition() == "ZCUBE_LOGGED_ROWS_MISMATCH"
        parameters = error.value.getMessageParameters()
        assert (parameters["logged"], parameters["read"]) == ("4005", "4000")
        assert parameters["files"] == f"{os.path.basename(wrong)}: 1005 in the log, 1000 read"
    assert last_version(copy) == version
    assert data_files_on_disk(copy) == files
    # The remedy in the message.
    remedy = re.search(r"StatisticsCollection\.recompute", str(error.value))
    assert remedy is not None
    recompute_statistics(spark, copy)
    spark.sql(f"OPTIMIZE delta.`{copy}` {order}")
    assert last_version(copy) == version + 2
    expected = multiset(spark.read.format("delta").load(path))
    assert multiset(spark.read.format("delta").load(copy)) == expected


def recompute_statistics(spark, path):
    """Delta's own method, called as from the JVM."""
    jvm = spark._jvm
    session = spark._jsparkSession
    log = jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session, path)
    statistics = jvm.org.apache.spark.sql.delta.stats.StatisticsCollection
    everything = getattr(statistics, "recompute$default$4")()
    every_file = getattr(statistics, "recompute$default$5")()
    statistics.recompute(session, log, jvm.scala.Option.empty(), everything, every_file)


def test_rows_are_not_compared_if_a_file_has_no_count(spark, path, tmp_path):
    make(spark, path)
    copy = str(tmp_path / "copy")
    with_other_counts(path, copy, lambda number, rows: None if number == 2 else rows + 5)
    assert ClusteredTable.for_path(spark, copy).optimize(zorder_by=["x"]).files_removed == 4
    expected = multiset(spark.read.format("delta").load(path))
    assert multiset(spark.read.format("delta").load(copy)) == expected


@pytest.mark.parametrize("settings", [{}, {"deletionVectors.useMetadataRowIndex": "false"}])
def test_deleted_rows_are_not_counted_as_missing(spark, path, settings):
    make(spark, path, "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 10 = 3")
    table = DeltaTable.forPath(spark, path)
    for key, value in settings.items():
        spark.conf.set(f"spark.databricks.delta.{key}", value)
    before = multiset(table.toDF())
    assert before.rows == 3600
    ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"])
    assert sum(file.rows for file in live_files(path)) == 3600
    assert multiset(table.toDF()) == before


def test_an_unreadable_file_does_not_affect_a_plan(spark, path):
    make(spark, path)
    table = ClusteredTable.for_path(spark, path)
    before = table.optimize(zorder_by=["x"], dry_run=True)
    lost = one_file(path)[0]
    lost.unlink()
    assert table.optimize(zorder_by=["x"], dry_run=True) == before
    (cube,) = before.cubes
    assert lost.name in [os.path.basename(file.path) for file in cube.files]
    assert len(cube.files) == 4
    with pytest.raises(Py4JJavaError, match="FILE_NOT_EXIST"):
        spark.read.format("delta").load(path).collect()


def test_a_file_with_another_count_is_told_apart_from_files_of_its_name(spark, path, tmp_path):
    """Spark gives one task's files in several partitions the same name."""
    rows = spark.range(0, 400, 1, 1).selectExpr("concat('a b%', id % 4) p", "id x")
    rows.sortWithinPartitions("p").write.partitionBy("p").parquet(path)
    spark.sql(f"CONVERT TO DELTA parquet.`{path}` PARTITIONED BY (p STRING)")
    copy = str(tmp_path / "copy")
    with_other_counts(path, copy, lambda number, rows: rows + 5 if number == 2 else rows)
    wrong = next(f.path for f in live_files(copy) if f.rows == 105)
    with pytest.raises(QueryExecutionException) as error:
        spark.sql(f"OPTIMIZE delta.`{copy}` ZORDER BY (x)")
    assert error.value.getCondition() == "ZCUBE_LOGGED_ROWS_MISMATCH"
    files = error.value.getMessageParameters()["files"]
    assert files == f"{wrong}: 105 in the log, 100 read"
