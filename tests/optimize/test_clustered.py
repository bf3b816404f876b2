"""OPTIMIZE of clustered tables: tags, ZCubes, budgets, WHERE, and mixed use with Delta."""

import json
import shutil
import subprocess
import sys

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from zcube import ClusteredTable

from tests.support.checksum import multiset
from tests.support.jars import of_delta
from tests.support.log_replay import (
    actions,
    data_files_on_disk,
    files_ever_added,
    last_version,
    live_files,
)
from tests.support.skipping import between, files_scanned
from tests.support.templates import written_once

SMALL = 12 << 10


def points(spark, start, count, parts=1):
    return spark.range(start, start + count, 1, parts).selectExpr(
        "id", "hash(id) x", "hash(id, 1) & 1023 y", "string(id % 50) s"
    )


@written_once
def write(spark, path, count, by, parts):
    points(spark, 0, count, parts).write.format("delta").clusterBy(*by).save(path)


def clustered(spark, path, count=6000, by=("x", "y"), parts=3):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    write(spark, path, count, by, parts)
    return ClusteredTable.for_path(spark, path)


def append(spark, path, start, count=400):
    points(spark, start, count).write.format("delta").mode("append").save(path)


def rows(spark, path):
    return multiset(spark.read.format("delta").load(path))


def cubes(path):
    found = {}
    for file in live_files(path):
        found.setdefault(file.tags.get("ZCUBE_ID"), []).append(file)
    return found


def adds(path, version):
    return [action["add"] for action in actions(path, version) if "add" in action]


def overlap(files, column):
    """The number of pairs of files whose ranges in a column overlap."""
    boxes = sorted((f.minimum[column], f.maximum[column]) for f in files)
    return sum(a[1] >= b[0] for i, a in enumerate(boxes) for b in boxes[i + 1 :])


def test_files_and_history_say_how_the_table_was_clustered(spark, path):
    table = clustered(spark, path)
    before = rows(spark, path)
    result = table.optimize()
    written = adds(path, last_version(path))
    assert {add["clusteringProvider"] for add in written} == {"liquid"}
    assert {add["tags"]["ZCUBE_ZORDER_BY"] for add in written} == {'["x","y"]'}
    assert {add["tags"]["ZCUBE_ZORDER_CURVE"] for add in written} == {"kdtree"}
    assert len({add["tags"]["ZCUBE_ID"] for add in written}) == 1
    assert not any(add["dataChange"] for add in written)
    assert rows(spark, path) == before
    entry = spark.sql(f"DESCRIBE HISTORY delta.`{path}` LIMIT 1").collect()[0]
    assert entry["operation"] == "OPTIMIZE"
    assert json.loads(entry["operationParameters"]["clusterBy"]) == ["x", "y"]
    assert result.metrics["clusteringStats"]["numOutputZCubes"] == 1
    assert result.metrics["clusteringStats"]["mergedFiles"]["numFiles"] == 3
    assert [cube.state for cube in result.cubes] == ["committed"]
    assert result.cubes[0].id == written[0]["tags"]["ZCUBE_ID"]
    assert result.cubes[0].version == last_version(path)


@pytest.mark.long
def test_one_column_is_plain_range_order(spark, path, job_counter):
    table = clustered(spark, path, by=("x",))
    with job_counter() as ran:
        table.optimize()
    assert len(ran.described("OPTIMIZE by (x)")) == 2
    files = live_files(path)
    assert len(files) > 4
    assert overlap(files, "x") == 0


def test_nothing_to_do_commits_nothing_and_runs_no_job_over_data(spark, path, job_counter):
    table = clustered(spark, path)
    table.optimize()
    version = last_version(path)
    with job_counter() as ran:
        result = table.optimize()
    assert last_version(path) == version
    assert result.files_added == result.files_removed == 0
    assert result.cubes == []
    assert result.kept == {"in a cube": len(live_files(path))}
    assert ran.described("OPTIMIZE by") == []
    assert table.optimize(full=True).files_added == 0


@pytest.mark.long
def test_leveled_rewrites_the_new_and_leaves_the_rest(spark, path):
    table = clustered(spark, path, count=20_000)
    table.optimize()
    first = {file.path for file in live_files(path)}
    append(spark, path, 100_000)
    result = table.optimize()
    assert result.files_removed == 1
    assert result.cubes[0].reasons == {"fresh": 1}
    assert first <= {file.path for file in live_files(path)}
    assert len(cubes(path)) == 2


@pytest.mark.long
def test_leveled_merges_a_size_class_and_then_into_the_largest(spark, path):
    """A size class's turn comes with append 8, the largest cube's with 9; LazyLevelingSuite simulates 200."""
    table = clustered(spark, path, count=40_000)
    table.optimize()
    reasons = []
    for number in range(10):
        append(spark, path, 100_000 + number * 800, 800)
        reasons.append({k for cube in table.optimize().cubes for k in cube.reasons})
    # A row that any of the runs had lost or doubled would be missing or there twice.
    assert rows(spark, path) == multiset(
        points(spark, 0, 40_000).union(points(spark, 100_000, 8000))
    )
    assert {"fresh"} in reasons
    assert {"fresh", "small cube"} in reasons
    assert any("largest cube" in kinds for kinds in reasons)
    assert None not in cubes(path)


@pytest.mark.long
def test_policy_all_merges_every_partial_cube(spark, path):
    table = clustered(spark, path)
    table.optimize()
    append(spark, path, 100_000)
    count = len(live_files(path))
    result = table.optimize(merge_policy="all")
    assert result.files_removed == count
    assert len(cubes(path)) == 1


@pytest.mark.long
def test_stable_cubes_are_left_alone(spark, path):
    table = clustered(spark, path)
    table.optimize(min_cube_size=1000)
    stable = {file.path for file in live_files(path)}
    append(spark, path, 100_000, 6000)
    spark.conf.set(
        "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold", "1000"
    )
    result = table.optimize(merge_policy="all")
    assert stable <= {file.path for file in live_files(path)}
    assert result.kept == {"stable": len(stable)}


@pytest.mark.long
def test_many_jobs_one_commit_each(spark, path):
    table = clustered(spark, path, count=12_000, parts=12)
    before, version = rows(spark, path), last_version(path)
    size = sum(file.size for file in live_files(path))
    spark.conf.set("spark.zcube.layout.maxJobBytes", str(size // 3))
    result = table.optimize(min_cube_size=size // 4, target_cube_size=size // 3)
    assert len(result.cubes) == len(cubes(path)) in (3, 4)
    assert last_version(path) == version + len(result.cubes)
    assert sorted(cube.version for cube in result.cubes) == list(
        range(version + 1, last_version(path) + 1)
    )
    assert rows(spark, path) == before


@pytest.mark.long
def test_one_job_makes_several_cubes_and_queries_read_as_after_one(spark, path, tmp_path):
    """Cubes of a few files each, in no order, would each cover everything."""
    single, several = str(tmp_path / "one"), path
    clustered(spark, several, count=12_000, parts=12)
    for copy in ("one", "by-sql"):
        shutil.copytree(several, tmp_path / copy)
    before, version = rows(spark, several), last_version(several)
    size = sum(file.size for file in live_files(several))
    ClusteredTable.for_path(spark, single).optimize(max_file_size=size // 24)
    result = ClusteredTable.for_path(spark, several).optimize(
        min_cube_size=size // 4, target_cube_size=size // 3, max_file_size=size // 24
    )
    assert last_version(several) == version + 1
    assert len(cubes(several)) in (3, 4)
    assert [set(cube.ids) for cube in result.cubes] == [set(cubes(several))]
    assert rows(spark, several) == before
    assert boxes(several) == boxes(single)
    counted = spark.sql(
        f"OPTIMIZE delta.`{tmp_path / 'by-sql'}` OPTIONS ('minCubeSize' = '{size // 4}', "
        f"'targetCubeSize' = '{size // 3}', 'maxFileSize' = '{size // 24}')"
    ).head()
    assert counted.metrics.clusteringStats.numOutputZCubes == len(cubes(tmp_path / "by-sql")) > 2
    # All of them are full.
    assert ClusteredTable.for_path(spark, several).optimize(
        min_cube_size=size // 5, merge_policy="all"
    ).kept == {"stable": len(live_files(several))}


def test_what_one_job_cannot_hold_is_regrouped_by_region(spark, path, tmp_path):
    """In no order, each of several jobs covers everything."""
    clustered(spark, path, count=12_000, parts=12)
    shutil.copytree(path, tmp_path / "one")
    before, version = rows(spark, path), last_version(path)
    size = sum(file.size for file in live_files(path))
    options = {"min_cube_size": size // 8, "target_cube_size": size // 8}
    options["max_file_size"] = size // 96
    ClusteredTable.for_path(spark, str(tmp_path / "one")).optimize(**options)
    spark.conf.set("spark.zcube.layout.maxJobBytes", str(size // 3))
    table = ClusteredTable.for_path(spark, path)
    planned = table.optimize(**options, dry_run=True)
    result = table.optimize(**options)
    assert rows(spark, path) == before
    first = [c for c in result.cubes if c.reasons == {"fresh": c.files}]
    second = [c for c in result.cubes if c.reasons == {"overlaps": c.files}]
    assert len(first) == len(planned.cubes) == 3
    assert len(second) >= 3
    assert first + second == result.cubes
    tags = {
        v: {a["tags"].get("ZCUBE_OVERLAPPING") for a in adds(path, v)}
        for v in range(version + 1, last_version(path) + 1)
    }
    jobs = [tags.pop(c.version) for c in first]
    assert all(len(job) == 1 and None not in job for job in jobs)
    assert len(set.union(*jobs)) == len(first)
    assert tags == {c.version: {None} for c in second}
    assert not any("ZCUBE_OVERLAPPING" in file.tags for file in live_files(path))
    assert sorted(i for c in second for i in c.ids) == sorted(cubes(path))
    assert result.files_added == sum(c.files_added for c in result.cubes)
    # The appended files, and those of the first pass.
    assert result.files_removed == 12 + sum(c.files_added for c in first)
    assert result.metrics["totalConsideredFiles"] == 12
    assert result.metrics["totalFilesSkipped"] == 0
    # The share of the files, which are smaller: tiny ones have more footer than rows.
    shares = [
        sum(
            between("x", x, x + (1 << 28))(file)
            for file in live_files(each)
            for x in range(-(1 << 31), 1 << 31, 1 << 29)
        )
        / len(live_files(each))
        for each in (path, tmp_path / "one")
    ]
    assert shares[0] <= 1.2 * shares[1]
    assert table.optimize(**options).cubes == []


def test_without_regrouping_what_overlaps_waits(spark, path):
    clustered(spark, path, count=4_000, parts=6)
    before = rows(spark, path)
    size = sum(file.size for file in live_files(path))
    spark.conf.set("spark.zcube.layout.maxJobBytes", str(size // 2))
    spark.conf.set("spark.zcube.layout.regroup", "false")
    table = ClusteredTable.for_path(spark, path)
    options = {"min_cube_size": size // 6, "target_cube_size": size // 6}
    options["max_file_size"] = size // 24
    result = table.optimize(**options)
    assert len(result.cubes) > 1
    assert all(c.reasons == {"fresh": c.files} for c in result.cubes)
    assert table.optimize(**options).cubes == []
    assert all("ZCUBE_OVERLAPPING" in file.tags for file in live_files(path))
    spark.conf.unset("spark.zcube.layout.regroup")
    again = table.optimize(**options)
    assert again.cubes != []
    assert all(c.reasons == {"overlaps": c.files} for c in again.cubes)
    assert rows(spark, path) == before


def boxes(path):
    return sorted(
        [file.minimum["x"], file.maximum["x"], file.minimum["y"], file.maximum["y"]]
        for file in live_files(path)
    )


@pytest.mark.long
def test_deltas_batch_size_keeps_its_meaning(spark, path):
    table = clustered(spark, path, count=12_000, parts=12)
    version = last_version(path)
    size = sum(file.size for file in live_files(path))
    spark.conf.set("spark.zcube.layout.maxJobBytes", str(size // 3))
    spark.conf.set("spark.databricks.delta.optimize.batchSize", str(1 << 40))
    result = table.optimize(min_cube_size=size // 4, target_cube_size=size // 3)
    assert len(result.cubes) > 2
    assert last_version(path) == version + 1


@pytest.mark.long
def test_other_columns_stay_until_full(spark, path):
    table = clustered(spark, path)
    table.optimize()
    old = {file.path for file in live_files(path)}
    table.cluster_by("y", "id")
    append(spark, path, 100_000)
    result = table.optimize()
    assert result.kept == {"other columns, until OPTIMIZE FULL": len(old)}
    assert old <= {file.path for file in live_files(path)}
    before = rows(spark, path)
    table.optimize(full=True)
    assert {file.tags["ZCUBE_ZORDER_BY"] for file in live_files(path)} == {'["y","id"]'}
    assert rows(spark, path) == before
    assert table.optimize(full=True).files_removed == 0


def test_a_renamed_column_is_the_same_column(spark, path):
    table = clustered(spark, path)
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    table.optimize()
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN x TO xx")
    assert table.optimize().files_removed == 0
    assert table.optimize(full=True).files_removed == 0


def test_zorder_by_is_rejected_and_none_compacts(spark, path):
    table = clustered(spark, path)
    with pytest.raises(PySparkException) as error:
        table.optimize(zorder_by=["x"])
    assert error.value.getCondition() == "DELTA_CLUSTERING_WITH_ZORDER_BY"
    table.cluster_by(None)
    spark.conf.unset("spark.databricks.delta.optimize.maxFileSize")
    result = table.optimize()
    assert (result.files_removed, result.files_added) == (3, 1)
    assert "ZCUBE_ID" not in live_files(path)[0].tags


def test_where_takes_in_only_files_that_may_match(spark, path):
    table = clustered(spark, path, by=("id", "y"), parts=6)
    before = {f.path: f for f in live_files(path)}
    result = table.optimize(where="id < 1500 AND y >= 0")
    touched = [f for f in before.values() if f.minimum["id"] < 1500]
    assert result.files_removed == len(touched) == 2
    assert result.kept == {"outside WHERE": 4}
    with pytest.raises(PySparkException) as error:
        table.optimize(where="s = '1'")
    assert error.value.getCondition() == "ZCUBE_NOT_A_CLUSTERING_COLUMN"
    with pytest.raises(PySparkException):
        table.optimize(where="no_such_column = 1")
    assert table.optimize(where="id > 1000000").files_removed == 0


def test_where_takes_in_what_a_scan_reads(spark, path):
    table = clustered(spark, path, by=("id", "y"), parts=6)
    spark.udf.register("is_odd", lambda x: x % 2 == 1, "boolean")
    df = spark.read.format("delta").load(path)
    for predicate, count in [
        ("id BETWEEN 1500 AND 2500", 2),
        ("id IN (7, 17) OR id = '5999'", 2),
        ("is_odd(id)", 6),
        ("is_odd(id) AND id < 900", 1),
    ]:
        plan = table.optimize(where=predicate, dry_run=True)
        taken = {file.path for cube in plan.cubes for file in cube.files}
        assert taken == files_scanned(df.where(predicate)), predicate
        assert len(taken) == count, predicate
        assert plan.stay == []
    with pytest.raises(PySparkException) as error:
        table.optimize(where="id < rand()")
    assert error.value.getCondition() == "ZCUBE_NONDETERMINISTIC_PREDICATE"


@pytest.mark.long
def test_where_takes_dates_and_nested_columns(spark, path):
    df = spark.range(0, 3000, 1, 3).selectExpr(
        "struct(date_add(DATE'2026-01-01', cast(id / 10 AS int)) d, hash(id) h) n", "id"
    )
    df.write.format("delta").clusterBy("n.d", "id").save(path)
    table = ClusteredTable.for_path(spark, path)
    assert table.clustering_columns == ["n.d", "id"]
    assert table.optimize(where="n.d >= '2026-10-01'").files_removed == 1
    assert table.optimize(where="n.d >= '2026-01-01'").files_removed >= 2


@pytest.mark.long
def test_max_bytes_bounds_a_run_and_the_next_runs_go_on(spark, path):
    table = clustered(spark, path, count=12_000, parts=12)
    total = sum(file.size for file in live_files(path))
    before = rows(spark, path)
    result = table.optimize(max_bytes=total // 3)
    assert 0 < result.bytes_removed <= total // 3
    assert result.left_files == 12 - result.files_removed
    assert result.left_bytes + result.bytes_removed == total
    assert "left for another run" in str(result)
    for _ in range(3):
        table.optimize(max_bytes=total // 3)
    assert None not in cubes(path)
    # Merging all cubes would exceed the budget: that is done in parts, and comes to an end.
    merged = []
    while not merged or merged[-1]:
        merged.append(table.optimize(max_bytes=total // 3).bytes_removed)
        assert merged[-1] <= total // 3
        assert len(merged) < 10
    assert 0 < sum(merged) <= 2 * total
    assert table.optimize().left_files == 0
    assert rows(spark, path) == before


def test_files_of_a_new_slice_are_cut_by_the_column_that_they_cover(spark, path):
    table = clustered(spark, path, count=12_000, by=("id", "y"), parts=4)
    table.optimize()
    append(spark, path, 12_000, 3000)
    table.optimize()
    new = [file for file in live_files(path) if file.minimum["id"] >= 12_000]
    assert len(new) > 2
    # By shares of the slice alone, they would be cut by both.
    assert overlap(new, "y") == 0
    assert sum(file.rows for file in new) == 3000


def test_a_merge_over_budget_is_done_in_parts_where_cubes_overlap(spark, path):
    table = clustered(spark, path, count=12_000, parts=4)
    table.optimize()
    reasons = []
    for number in range(5):
        append(spark, path, 12_000 + number * 1000, 1000)
        before, files = rows(spark, path), live_files(path)
        budget = sum(file.size for file in files) // 5
        result = table.optimize(max_bytes=budget)
        assert result.bytes_removed <= budget
        removed = {file.path for file in files} - {file.path for file in live_files(path)}
        assert len(removed) == result.files_removed
        assert rows(spark, path) == before
        assert None not in cubes(path)
        reasons += [cube.reasons for cube in result.cubes]
    # Four small cubes cover everything; the largest isn't touched.
    assert {"overlaps": 4} in reasons
    assert not any("largest cube" in reason for reason in reasons)


def test_max_duration_leaves_what_has_not_begun(spark, path):
    table = clustered(spark, path)
    version = last_version(path)
    result = table.optimize(max_duration="1ms")
    assert result.cubes[0].state == "left"
    assert result.left_files == 3
    assert last_version(path) == version
    assert table.optimize(max_duration="1h").left_files == 0


def test_deleted_rows_are_purged_from_their_files_only(spark, path):
    table = clustered(spark, path, count=20_000)
    table.optimize()
    spark.sql(
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = true)"
    )
    spark.sql(f"DELETE FROM delta.`{path}` WHERE x < -1900000000 AND id % 2 = 0")
    before = rows(spark, path)
    result = table.optimize()
    assert "deleted rows" in result.cubes[0].reasons
    assert "in a cube" in result.kept
    assert rows(spark, path) == before
    # The remaining files have a share of deleted rows below Delta's ratio.
    assert table.optimize().files_removed == 0


def test_delta_goes_on_with_our_cubes_and_we_with_deltas(spark, path, delta_only):
    table = clustered(spark, path)
    table.optimize()
    append(spark, path, 100_000)
    before = rows(spark, path)
    with delta_only():
        metrics = spark.sql(f"OPTIMIZE delta.`{path}`").collect()[0]["metrics"]
    # Delta saw ZCube's files as a partial cube with the same columns.
    assert metrics["clusteringStats"]["inputZCubeFiles"]["numFiles"] > 0
    assert metrics["clusteringStats"]["inputOtherFiles"]["numFiles"] == 1
    assert len(cubes(path)) == 1
    assert table.optimize().files_removed == 0
    append(spark, path, 200_000)
    assert table.optimize().files_removed == 1
    with delta_only():
        spark.sql(f"OPTIMIZE delta.`{path}`")
    assert len(cubes(path)) == 1
    with delta_only():
        version = last_version(path)
        spark.sql(f"OPTIMIZE delta.`{path}`")
    assert last_version(path) == version
    assert table.optimize(merge_policy="all").files_removed == 0
    assert rows(spark, path).rows == before.rows + 400


PLAIN_DELTA = """
import sys
from pyspark.sql import SparkSession

path, jars, size = sys.argv[1:]
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false").config("spark.jars", jars)
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.databricks.delta.optimize.maxFileSize", size)
    .config("spark.databricks.delta.snapshotPartitions", "2")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
)
spark = builder.getOrCreate()
table = f"delta.`{path}`"
spark.range(90000, 90100).selectExpr("id", "hash(id) x", "1 y", "'d' s").write.format("delta").mode(
    "append"
).save(path)
spark.sql(f"DELETE FROM {table} WHERE id = 7")
metrics = spark.sql(f"OPTIMIZE {table}").collect()[0]["metrics"]
print("cubes", metrics["clusteringStats"]["inputNumZCubes"])
"""


@pytest.mark.long
def test_a_session_without_zcube_goes_on_with_the_table(spark, path):
    """Delta alone, in a separate process, writes, deletes and clusters; then ZCube continues."""
    table = clustered(spark, path)
    table.optimize()
    jars = ",".join(of_delta())
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_DELTA, path, jars, str(SMALL)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cubes 1" in done.stdout
    assert len(cubes(path)) == 1
    assert table.optimize().files_removed == 0
    append(spark, path, 100_000)
    assert table.optimize().files_removed == 1
    assert rows(spark, path).rows == 6000 + 100 - 1 + 400


@pytest.mark.long
def test_delta_table_api_clusters_and_sql_takes_options(spark, path):
    clustered(spark, path)
    DeltaTable.forPath(spark, path).optimize().executeCompaction()
    assert {f.tags["ZCUBE_ZORDER_BY"] for f in live_files(path)} == {'["x","y"]'}
    append(spark, path, 100_000)
    row = spark.sql(
        f"OPTIMIZE delta.`{path}` OPTIONS ('mergePolicy' = 'all', 'details' = 'true')"
    ).collect()[0]
    assert json.loads(row["details"])["cubes"][0]["state"] == "committed"
    assert spark.sql(f"OPTIMIZE delta.`{path}`").columns == ["path", "metrics"]


@pytest.mark.long
@pytest.mark.parametrize("curve", ["zorder", "linear"])
def test_another_curve_is_another_layout(spark, path, curve):
    table = clustered(spark, path)
    table.optimize(curve=curve)
    assert {f.tags["ZCUBE_ZORDER_CURVE"] for f in live_files(path)} == {curve}
    assert table.optimize(curve=curve).files_removed == 0
    assert table.optimize(full=True).files_removed > 0
    assert {f.tags["ZCUBE_ZORDER_CURVE"] for f in live_files(path)} == {"kdtree"}


@pytest.mark.long
def test_zorder_by_is_incremental_by_partition(spark, path):
    points(spark, 0, 6000, 3).selectExpr("*", "id % 2 p").write.format("delta").partitionBy(
        "p"
    ).save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", "y"])
    version = last_version(path)
    result = table.optimize(zorder_by=["x", "y"])
    assert (result.files_removed, last_version(path)) == (0, version)
    assert {f.tags["ZCUBE_ZORDER_CURVE"] for f in live_files(path)} == {"kdtree"}
    assert all("clusteringProvider" not in add for add in adds(path, version))
    points(spark, 100_000, 500).selectExpr("*", "1L p").write.format("delta").mode("append").save(
        path
    )
    before = rows(spark, path)
    result = table.optimize(zorder_by=["x", "y"])
    assert [cube.partition for cube in result.cubes] == [{"p": "1"}]
    assert table.optimize(zorder_by=["x", "y"]).files_removed == 0
    # Other columns, another curve, or FULL: everything is rewritten.
    everything = len(live_files(path))
    assert table.optimize(zorder_by=["y", "x"]).files_removed == everything
    everything = len(live_files(path))
    assert table.optimize(zorder_by=["y", "x"], curve="hilbert").files_removed == everything
    everything = len(live_files(path))
    result = table.optimize(zorder_by=["y", "x"], curve="hilbert", full=True)
    assert result.files_removed == everything
    assert rows(spark, path) == before


@pytest.mark.long
def test_files_far_from_the_target_size_are_rewritten(spark, path):
    table = clustered(spark, path, count=20_000)
    table.optimize()
    many = len(live_files(path))
    result = table.optimize(max_file_size=SMALL * 8)
    assert result.cubes[0].reasons == {"file size": many}
    assert table.optimize(max_file_size=SMALL * 8).files_removed == 0
    result = table.optimize(max_file_size=SMALL)
    assert set(result.cubes[0].reasons) == {"file size"}
    assert table.optimize(max_file_size=SMALL).files_removed == 0


@pytest.mark.long
def test_a_table_without_rows_or_statistics_is_clustered_without_loss(spark, path):
    spark.sql(f"CREATE TABLE delta.`{path}` (x INT, y INT) USING delta CLUSTER BY (x, y)")
    table = ClusteredTable.for_path(spark, path)
    assert table.optimize().files_removed == 0
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    for start in range(3):
        points(spark, start * 100, 100).selectExpr("x", "y").write.format("delta").mode(
            "append"
        ).save(path)
        before = rows(spark, path)
        assert table.optimize().files_added == 1
        assert rows(spark, path) == before


def test_row_ids_stay_no_change_is_recorded_and_old_versions_are_readable(spark, path):
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, x INT) USING delta CLUSTER BY (x) TBLPROPERTIES "
        "('delta.enableRowTracking' = true, 'delta.enableChangeDataFeed' = true)"
    )
    points(spark, 0, 3000, 3).select("id", "x").write.format("delta").mode("append").save(path)
    ids = f"SELECT id, _metadata.row_id r FROM delta.`{path}`"
    before, version = multiset(spark.sql(ids)), last_version(path)
    ClusteredTable.for_path(spark, path).optimize()
    assert multiset(spark.sql(ids)) == before
    changes = spark.read.format("delta").option("readChangeFeed", "true")
    assert changes.option("startingVersion", version + 1).load(path).count() == 0
    old = spark.read.format("delta").option("versionAsOf", version).load(path)
    assert multiset(old) == rows(spark, path)
    assert data_files_on_disk(path) == files_ever_added(path)
