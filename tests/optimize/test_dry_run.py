"""OPTIMIZE … DRY RUN and optimize(dry_run=True): they only plan."""

import json

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from zcube import ClusteredTable

from tests.support.log_replay import data_files_on_disk, last_version, live_files

SMALL = 12 << 10


def points(spark, start, count, parts=1):
    return spark.range(start, start + count, 1, parts).selectExpr(
        "id", "hash(id) x", "hash(id, 1) & 1023 y", "id % 2 p"
    )


def test_the_plan_is_what_the_run_does(spark, path, job_counter):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 8000, 4).write.format("delta").clusterBy("x", "y").save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize()
    points(spark, 10_000, 400).write.format("delta").mode("append").save(path)
    before = live_files(path)
    disk, version = data_files_on_disk(path), last_version(path)
    with job_counter() as jobs:
        plan = table.optimize(dry_run=True)
    assert not jobs.reading(400), "data was read"
    assert last_version(path) == version
    assert data_files_on_disk(path) == disk
    fresh = [file for file in before if not file.tags]
    assert [(f.path, f.reason) for f in plan.cubes[0].files] == [(fresh[0].path, "fresh")]
    assert plan.bytes_read == plan.bytes_written == fresh[0].size
    assert {file.path for file in plan.stay} == {f.path for f in before} - {fresh[0].path}
    assert {file.reason for file in plan.stay} == {"in a cube"}
    assert plan.stay_reasons == {"in a cube": len(plan.stay)}
    assert plan.left_reasons == {}
    result = table.optimize()
    assert result.cubes[0].reasons == plan.cubes[0].reasons == {"fresh": 1}
    assert (result.files_removed, result.bytes_removed) == (1, plan.bytes_read)
    assert table.optimize(dry_run=True).cubes == []


def test_deleted_rows_are_read_and_not_written(spark, path):
    rows = points(spark, 0, 2000).write.format("delta")
    rows.option("delta.enableDeletionVectors", "true").save(path)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id < 1000")
    plan = ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"], dry_run=True)
    size = live_files(path)[0].size
    assert (plan.bytes_read, plan.bytes_written) == (size, size // 2)


def test_the_plan_follows_budget_where_and_partitions(spark, path):
    points(spark, 0, 4000, 2).write.format("delta").partitionBy("p").save(path)
    table = ClusteredTable.for_path(spark, path)
    plan = table.optimize(zorder_by=["x"], where="p = 1", dry_run=True)
    assert [cube.partition for cube in plan.cubes] == [{"p": "1"}]
    assert len(plan.cubes[0].files) == 2
    # The other partition's are neither listed nor counted.
    assert (plan.stay, plan.stay_reasons) == ([], {})
    partition = sum(file.size for file in live_files(path) if file.partition["p"] == "1")
    tight = table.optimize(zorder_by=["x"], max_bytes=partition + 10, dry_run=True)
    assert len(tight.cubes) == 1
    assert {file.reason for file in tight.left} == {"over budget"}
    assert len(tight.left) == 2
    assert tight.left_reasons == {"over budget": 2}
    assert "2 files" in str(tight).splitlines()[0]
    assert "over the budget" in str(tight)


def test_groups_are_not_called_cubes_or_jobs(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 8000, 8).write.format("delta").partitionBy("p").save(path)
    size = sum(file.size for file in live_files(path))
    cube = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"
    spark.conf.set(f"{cube}.threshold", str(size // 8))
    spark.conf.set(f"{cube}.targetCubeSize", str(size // 6))
    table = ClusteredTable.for_path(spark, path)
    plan = table.optimize(zorder_by=["x", "y"], dry_run=True)
    text = str(plan)
    assert "in 2 groups;" in text.splitlines()[0]
    assert [line.split("  ")[0] for line in text.splitlines()[2:4]] == ["group 1", "group 2"]
    assert "cube " not in text
    assert "job" not in text
    # Of the cubes, the second group makes the fourth and more.
    assert [group.number for group in plan.cubes] == [1, 4]
    assert len(table.optimize(zorder_by=["x", "y"]).cubes[0].ids) == 3


def test_the_plan_is_the_same_in_sql_text_html_and_plain_values(spark, path):
    points(spark, 0, 500, 3).write.format("delta").save(path)
    version = last_version(path)
    rows = spark.sql(f"OPTIMIZE '{path}' ZORDER BY (x) OPTIONS ('curve' = 'linear') dry run;")
    assert rows.columns[:3] == ["cube", "action", "partition"]
    first = rows.collect()
    actions = [(row["cube"], row["action"], row["files"]) for row in first]
    assert actions == [(1, "rewrite", 3), (None, "forecast", 3)]
    assert first[0]["reasons"] == {"fresh": 3}
    assert spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x) DRY RUN").collect() == first
    assert last_version(path) == version
    plan = ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"], dry_run=True)
    assert str(plan).startswith("3 files (")
    assert "3 fresh" in str(plan)
    assert "<td>3 fresh</td>" in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["cubes"][0]["reasons"] == {"fresh": 3}


def test_compaction_and_deltas_own_optimize_have_no_dry_run(spark, path):
    points(spark, 0, 500, 3).write.format("delta").save(path)
    version = last_version(path)
    for enabled, statement, why in [
        ("true", "", "NO_COLUMNS"),
        ("false", "ZORDER BY (x)", "DISABLED"),
        ("false", "", "DISABLED"),
    ]:
        spark.conf.set("spark.zcube.enabled", enabled)
        with pytest.raises(AnalysisException) as rejection:
            spark.sql(f"OPTIMIZE delta.`{path}` {statement} DRY RUN").collect()
        assert rejection.value.getCondition() == f"ZCUBE_DRY_RUN_NOT_SUPPORTED.{why}"
        named = rejection.value.getMessageParameters().get("table", "")
        assert named.endswith(path) == (why == "NO_COLUMNS")
    spark.conf.set("spark.zcube.enabled", "true")
    with pytest.raises(IllegalArgumentException) as rejection:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (nope) DRY RUN").collect()
    assert rejection.value.getCondition() == "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST"
    assert last_version(path) == version
