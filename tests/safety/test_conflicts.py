"""An OPTIMIZE of two ZCubes, stopped before its first commit or write, while the table changes.

The oracle is the effect of the change alone: it is applied to a copy that isn't optimized.
"""

import shutil
from pathlib import Path

import pytest
from zcube import ClusteredTable

from tests.support.checksum import multiset
from tests.support.log_replay import data_files_on_disk, files_ever_added
from tests.support.matrix import cases, rest_at_night
from tests.support.tables import cube_sizes, make


def sql(text):
    return lambda spark, path: spark.sql(text.format(t=f"delta.`{path}`"))


def append(spark, path):
    spark.range(9000, 9100).selectExpr("id", "hash(id) y", "'new' s").write.format("delta").mode(
        "append"
    ).save(path)


def overwrite(spark, path):
    spark.range(7).selectExpr("id", "hash(id) y", "'all' s").write.format("delta").mode(
        "overwrite"
    ).save(path)


def replace(spark, path):
    # Like dbt's tables. The table's id is another one then.
    spark.sql(
        f"CREATE OR REPLACE TABLE delta.`{path}` USING delta CLUSTER BY (id, y) "
        "AS SELECT id, hash(id) y, 'all' s FROM range(7)"
    )


MERGE = (
    "MERGE INTO {t} USING (SELECT 7L AS id) n ON {t}.id = n.id "
    "WHEN MATCHED THEN UPDATE SET s = 'merged'"
)

# The change, how many of the two cubes can still be committed.
CHANGES = {
    "append": (append, 2),
    "overwrite": (overwrite, 0),
    "replace": (replace, 0),
    "delete": (sql("DELETE FROM {t} WHERE id = 7"), 1),
    "delete all": (sql("DELETE FROM {t}"), 0),
    "update": (sql("UPDATE {t} SET s = 'u' WHERE id = 5500"), 1),
    "merge": (sql(MERGE), 1),
    "alter columns": (sql("ALTER TABLE {t} CLUSTER BY (y)"), 2),
    "add column": (sql("ALTER TABLE {t} ADD COLUMN (more INT)"), 2),
    "rename": (sql("ALTER TABLE {t} RENAME COLUMN s TO text"), 2),
    "vacuum": (sql("VACUUM {t}"), 2),
    "restore": (sql("RESTORE TABLE {t} TO VERSION AS OF 1"), 1),
    "property": (sql("ALTER TABLE {t} SET TBLPROPERTIES ('k' = 'v')"), 2),
}
WITH_VECTORS = ("append", "overwrite", "delete", "update", "merge")
# What takes no cube away. DELETE, which takes one, is among those with vectors.
ALWAYS = {"append", "replace"}
# Before a commit, ZCube has read what others did; what they do then is found by Delta.
COMMIT, WRITING = "before-commit", "before-writing"
CASES = [
    (*case, place)
    for place in (COMMIT, WRITING)
    for case in (*((n, False) for n in CHANGES), *((n, True) for n in WITH_VECTORS))
]


@pytest.mark.parametrize(
    ("change", "vectors", "place"),
    cases(CASES, lambda case: case[0] == "delete" if case[1] else case[0] in ALWAYS),
)
def test_a_change_meanwhile_stays_and_drops_only_what_it_touches(
    spark, path, tmp_path, failure_points, change, vectors, place
):
    act, committed = CHANGES[change]
    make(spark, path, vectors)
    sizes = cube_sizes(spark, path)
    if place == WRITING:
        # The second cube would be committed meanwhile.
        spark.conf.set("spark.databricks.delta.optimize.maxThreads", "1")
    copy = str(tmp_path / "copy")
    shutil.copytree(path, copy)
    act(spark, copy)
    with failure_points.paused(
        lambda: ClusteredTable.for_path(spark, path).optimize(**sizes), place
    ) as outcome:
        assert outcome.reached
        act(spark, path)
    table = spark.read.format("delta").load(path)
    assert multiset(table) == multiset(spark.read.format("delta").load(copy))
    if committed == 0:
        kind = type(outcome.error).__name__
        assert kind == "MetadataChangedException" or kind.startswith("Concurrent")
        assert kind.endswith("Exception")
    else:
        result = outcome.result
        states = sorted(cube.state for cube in result.cubes)
        assert states == ["committed"] * committed + ["dropped"] * (2 - committed)
        assert all(cube.why for cube in result.cubes if cube.state == "dropped")
    assert data_files_on_disk(path) <= files_ever_added(path)
    # The next run finds nothing wrong.
    ClusteredTable.for_path(spark, path).optimize()
    assert multiset(spark.read.format("delta").load(path)) == multiset(table)


@pytest.mark.parametrize("other", cases(["zcube", "delta"], {"zcube"}))
def test_of_two_optimizers_at_once_the_later_commit_is_dropped(
    spark, path, failure_points, delta_only, other
):
    """The second succeeds while the first waits; the first then drops all its work."""
    make(spark, path)
    before = multiset(spark.read.format("delta").load(path))
    with failure_points.paused(lambda: ClusteredTable.for_path(spark, path).optimize()) as outcome:
        assert outcome.reached
        if other == "zcube":
            assert ClusteredTable.for_path(spark, path).optimize().files_removed == 6
        else:
            with delta_only():
                spark.sql(f"OPTIMIZE delta.`{path}`")
    assert type(outcome.error).__name__ == "ConcurrentDeleteReadException"
    assert multiset(spark.read.format("delta").load(path)) == before
    assert data_files_on_disk(path) == files_ever_added(path)


def test_a_vacuum_that_removes_the_new_files_fails_the_commit(spark, path, failure_points):
    """Without retention, VACUUM removes written but uncommitted files: nothing may be lost."""
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    make(spark, path)
    before = multiset(spark.read.format("delta").load(path))
    with failure_points.paused(lambda: ClusteredTable.for_path(spark, path).optimize()) as outcome:
        assert outcome.reached
        spark.sql(f"VACUUM delta.`{path}` RETAIN 0 HOURS")
    assert "ZCUBE_WRITTEN_FILE_MISSING" in str(outcome.error)
    assert multiset(spark.read.format("delta").load(path)) == before


def test_only_what_is_committed_after_the_writing_is_for_deltas_check(spark, path, failure_points):
    """Others may have committed thousands of versions, and Delta would go through all files for each."""
    make(spark, path)
    with failure_points.paused(
        lambda: ClusteredTable.for_path(spark, path).optimize(), WRITING
    ) as outcome:
        for _ in range(3):
            append(spark, path)
    assert outcome.result.files_removed == 6
    last = spark.sql(f"DESCRIBE HISTORY delta.`{path}` LIMIT 1").first()
    assert last["operation"] == "OPTIMIZE"
    assert last["readVersion"] == last["version"] - 1


@pytest.mark.parametrize("versions", [1, 6])
def test_a_table_made_anew_in_the_same_folder_stays_as_it_is(
    spark, path, tmp_path, failure_points, versions
):
    """Its log may be shorter, and would get a gap, or longer: then rows of the old table would join it.

    The data files are left, so that the run isn't ended by their loss.
    """
    make(spark, path)
    anew, log = str(tmp_path / "anew"), Path(path, "_delta_log")
    for _ in range(versions):
        append(spark, anew)
    with failure_points.paused(
        lambda: ClusteredTable.for_path(spark, path).optimize(), WRITING
    ) as outcome:
        assert outcome.reached
        shutil.rmtree(log)
        shutil.copytree(anew, path, dirs_exist_ok=True)
        before = sorted(log.glob("*.json"))
    assert type(outcome.error).__name__ == "ConcurrentDeleteReadException"
    assert sorted(log.glob("*.json")) == before
    assert data_files_on_disk(path) >= files_ever_added(path)
    # Read elsewhere: Delta keeps the log of this path.
    shutil.copytree(path, tmp_path / "copy")
    after = spark.read.format("delta").load(str(tmp_path / "copy"))
    assert multiset(after) == multiset(spark.read.format("delta").load(anew))


@pytest.mark.parametrize("touched", [True, False])
def test_a_version_that_is_gone_from_the_log_is_not_written_again(
    spark, path, failure_points, touched
):
    """A job may last longer than the log's retention. What others did in that version isn't undone."""
    make(spark, path, True)
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.checkpointInterval' = '1')")
    with failure_points.paused(
        lambda: ClusteredTable.for_path(spark, path).optimize(), WRITING
    ) as outcome:
        assert outcome.reached
        if touched:
            spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 7")
        else:
            append(spark, path)
        before, disk = multiset(spark.read.format("delta").load(path)), data_files_on_disk(path)
        gone = max(Path(path, "_delta_log").glob("*.json"))
        spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('k' = 'v')")
        gone.unlink()
    assert multiset(spark.read.format("delta").load(path)) == before
    assert not gone.exists()
    if touched:
        assert type(outcome.error).__name__ == "ConcurrentDeleteReadException"
        assert data_files_on_disk(path) == disk
    else:
        assert outcome.result.files_removed == 6


def test_a_log_that_was_put_back_to_an_older_state_gets_no_gap(
    spark, path, tmp_path, failure_points
):
    make(spark, path)
    log = Path(path, "_delta_log")
    with failure_points.paused(
        lambda: ClusteredTable.for_path(spark, path).optimize(), WRITING
    ) as outcome:
        assert outcome.reached
        for file in log.glob(f"*{2:020}*"):
            file.unlink()
        before = sorted(log.glob("*.json"))
        assert len(before) == 2
    assert type(outcome.error).__name__ == "ConcurrentDeleteReadException"
    assert sorted(log.glob("*.json")) == before
    shutil.copytree(path, tmp_path / "copy")
    assert spark.read.format("delta").load(str(tmp_path / "copy")).count() == 5000


def test_streams_that_read_and_write_meanwhile_miss_no_row(spark, path, tmp_path):
    """Appends by a stream never fail, and a reader of the table sees each row once."""
    make(spark, path)
    source, sink = str(tmp_path / "source"), str(tmp_path / "sink")
    spark.range(0).selectExpr("id", "hash(id) y", "string(id) s").write.format("delta").save(source)
    writer = (
        spark.readStream.format("delta").load(source).writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "c1")).start(path)
    )  # fmt: skip
    reader = (
        spark.readStream.format("delta").load(path).writeStream.format("delta")
        .option("checkpointLocation", str(tmp_path / "c2")).start(sink)
    )  # fmt: skip
    # The second round is the first in which cubes meet files of the stream.
    rounds = rest_at_night([0, 1], [2, 3])
    try:
        for round_ in rounds:
            start = 10_000 + round_ * 500
            spark.range(start, start + 500).selectExpr("id", "hash(id) y", "'s' s").write.format(
                "delta"
            ).mode("append").save(source)
            ClusteredTable.for_path(spark, path).optimize()
            writer.processAllAvailable()
            reader.processAllAvailable()
    finally:
        writer.stop()
        reader.stop()
    assert multiset(spark.read.format("delta").load(sink)) == multiset(
        spark.read.format("delta").load(path)
    )
    assert spark.read.format("delta").load(path).count() == 6000 + 500 * len(rounds)
