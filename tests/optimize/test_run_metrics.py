"""A run's metrics in the table's history, in its result and in the driver's log."""

import json
import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from zcube import ClusteredTable

from tests.reference import overlaps
from tests.support.log_replay import actions, last_version, live_files
from tests.support.tables import cube_sizes, make

COLUMNS = ("id", "y")


def physical(path):
    """The columns' names in statistics; the table has column mapping."""
    [schema] = [a["metaData"]["schemaString"] for a in actions(path, 0) if "metaData" in a]
    names = {f["name"]: f["metadata"] for f in json.loads(schema)["fields"]}
    return [names[column]["delta.columnMapping.physicalName"] for column in COLUMNS]


def quality_of(adds, columns):
    """Brute force over the statistics of these add actions."""
    stats = [json.loads(add["stats"]) for add in adds]
    return overlaps.boxes(
        [[(file["minValues"][c], file["maxValues"][c]) for file in stats] for c in columns]
    )


def commits(path):
    """By version: the files that an OPTIMIZE removed and added, with their add actions."""
    known, found = {}, {}
    for version in range(last_version(path) + 1):
        commit = actions(path, version)
        removed = [known[a["remove"]["path"]] for a in commit if "remove" in a]
        added = [a["add"] for a in commit if "add" in a]
        known |= {add["path"]: add for add in added}
        if removed:
            found[version] = (removed, added)
    return found


def metrics_and_parameters(row):
    """The metrics of a commit, which are integers, and its parameters, which are strings."""
    return row["operationMetrics"], row["operationParameters"]


def assert_reported(metrics, texts, removed, added, columns):
    for when, files in (("Before", removed), ("After", added)):
        expected = quality_of(files, columns)
        assert float(texts[f"averageDepth{when}"]) == pytest.approx(expected["average_depth"])
        assert float(texts[f"skippingEffectiveness{when}"]) == pytest.approx(
            expected["skipping_effectiveness"]
        )
    assert metrics["numRemovedFiles"] == str(len(removed))
    assert set(texts["cubeId"].split(",")) == {add["tags"]["ZCUBE_ID"] for add in added}


def test_history_and_result_report_the_same(spark, path, job_counter):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(6 << 10))
    make(spark, path)
    columns = physical(path)
    with job_counter() as jobs:
        result = ClusteredTable.for_path(spark, path).optimize(**cube_sizes(spark, path))
    history = {
        row["version"]: metrics_and_parameters(row)
        for row in spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
        if row["operation"] == "OPTIMIZE"
    }
    found = commits(path)
    assert len(found) == len(result.cubes) == 2
    assert history.keys() == found.keys()
    for cube in result.cubes:
        (metrics, texts), (removed, added) = history[cube.version], found[cube.version]
        assert_reported(metrics, texts, removed, added, columns)
        assert texts["cubeId"] == cube.id
        assert json.loads(texts["reasons"]) == cube.reasons == {"fresh": len(removed)}
        assert [int(metrics[f"{name}TimeMs"]) for name in ("sampling", "writing", "cpu")] == [
            cube.sampling_ms, cube.writing_ms, cube.cpu_ms,
        ]  # fmt: skip
        assert float(texts["averageDepthBefore"]) == cube.average_depth_before
        assert float(texts["averageDepthAfter"]) == cube.average_depth_after
        assert float(texts["skippingEffectivenessBefore"]) == cube.skipping_before
        assert float(texts["skippingEffectivenessAfter"]) == cube.skipping_after
        # Spark's own metrics of the cube's jobs.
        own = jobs.described(f"cube {result.cubes.index(cube) + 1} of 2,")
        assert cube.cpu_ms == pytest.approx(sum(job.cpu_ms for job in own), abs=1.5)
        assert min(cube.sampling_ms, cube.writing_ms, cube.committing_ms, cube.cpu_ms) > 0
    assert result.sampling_ms == sum(cube.sampling_ms for cube in result.cubes)
    values = json.loads(json.dumps(result.to_dict()))
    assert values["writing_ms"] == sum(cube["writing_ms"] for cube in values["cubes"])
    assert values["committing_ms"] == sum(cube["committing_ms"] for cube in values["cubes"])
    assert f"sampling {result.sampling_ms / 1000:.1f} s, writing " in str(result)
    cube, page = result.cubes[0], result._repr_html_()
    assert f"<td>{cube.average_depth_before:.2f} → {cube.average_depth_after:.2f}</td>" in page


def test_metrics_are_whole_numbers(spark, path):
    make(spark, path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(**cube_sizes(spark, path))
    spark.sql(f"INSERT INTO delta.`{path}` SELECT * FROM delta.`{path}`")
    table.optimize(full=True)
    spark.conf.set("spark.sql.ansi.enabled", "true")
    history = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").where("operation = 'OPTIMIZE'")
    values = history.selectExpr("explode(operationMetrics) AS (name, value)")
    rows = values.selectExpr("name", "CAST(value AS BIGINT) AS number", "value").collect()
    assert {"numAddedFiles", "samplingTimeMs", "cpuTimeMs"} <= {row.name for row in rows}
    assert all(str(row.number) == row.value for row in rows)
    # Other values are next to Delta's parameters, and the user's own metadata isn't changed.
    for row in history.collect():
        assert {
            "predicate",
            "clusterBy",
            "auto",
            "cubeId",
            "reasons",
        } <= row.operationParameters.keys()
        assert row.operationParameters["auto"] == "false"
        assert row.userMetadata is None


def test_metrics_of_several_cubes_in_one_commit_are_their_means(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.batchSize", "10g")
    spark.range(0, 3000, 1, 3).selectExpr("id % 1000 id", "id y", "id % 2 p").write.format(
        "delta"
    ).partitionBy("p").save(path)
    result = ClusteredTable.for_path(spark, path).optimize(zorder_by=COLUMNS)
    assert len(result.cubes) == 2
    [(removed, added)] = commits(path).values()
    [(metrics, texts)] = [
        metrics_and_parameters(row)
        for row in spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
        if row["operation"] == "OPTIMIZE"
    ]
    # Each partition separately; both have the same number of files.
    halves = [[f for f in removed if f["partitionValues"]["p"] == p] for p in ("0", "1")]
    depths = [quality_of(half, COLUMNS)["average_depth"] for half in halves]
    assert float(texts["averageDepthBefore"]) == pytest.approx(sum(depths) / 2)
    assert set(texts["cubeId"].split(",")) == {f["tags"]["ZCUBE_ID"] for f in added}
    assert int(metrics["cpuTimeMs"]) == sum(cube.cpu_ms for cube in result.cubes)
    assert result.committing_ms == result.cubes[0].committing_ms == result.cubes[1].committing_ms


def test_files_without_statistics_have_no_quality(spark, path):
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    spark.range(0, 300, 1, 3).selectExpr("id", "id y").write.format("delta").save(path)
    spark.conf.set("spark.databricks.delta.stats.collect", "true")
    spark.conf.set("spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled", "false")
    result = ClusteredTable.for_path(spark, path).optimize(zorder_by=COLUMNS)
    [cube] = result.cubes
    assert (cube.average_depth_before, cube.skipping_before) == (None, None)
    assert cube.average_depth_after == 1.0
    assert "<td>– → 1.00</td><td>– → 0.0 %</td>" in result._repr_html_()
    _, texts = metrics_and_parameters(spark.sql(f"DESCRIBE HISTORY delta.`{path}`").first())
    assert "averageDepthBefore" not in texts
    assert texts["averageDepthAfter"] == "1.0"


@pytest.mark.long
def test_no_quality_is_recorded_above_100000_files(spark, path):
    rows = spark.range(0, 300, 1, 3).selectExpr("id", "id y", "1 p")
    rows.write.format("delta").partitionBy("p").save(path)
    # Files of another partition, which are in the log only.
    add = {"partitionValues": {"p": "0"}, "size": 1, "modificationTime": 0, "dataChange": True}
    with (Path(path) / "_delta_log" / f"{1:020d}.json").open("w") as commit:
        for number in range(100_000):
            commit.write(json.dumps({"add": {"path": f"p=0/{number}.parquet", **add}}) + "\n")
    table = ClusteredTable.for_path(spark, path)
    [cube] = table.optimize(zorder_by=COLUMNS, where="p = 1").cubes
    assert (cube.files, cube.files_added) == (3, 1)
    assert cube.average_depth_before is cube.average_depth_after is None
    metrics, texts = metrics_and_parameters(spark.sql(f"DESCRIBE HISTORY delta.`{path}`").first())
    assert "numAddedFiles" in metrics
    assert "reasons" in texts
    quality = {"averageDepthBefore", "averageDepthAfter", "skippingEffectivenessAfter"}
    assert not quality & texts.keys()


@contextmanager
def logged(spark, file):
    """Also write the runs' driver log lines to a file."""
    log4j = spark._jvm.org.apache.logging.log4j
    name = "io.zcube.optimize"
    layout = log4j.core.layout.PatternLayout.newBuilder().withPattern("%p %m%n").build()
    appender = (
        log4j.core.appender.FileAppender.newBuilder().setName("test").setLayout(layout)
        .withFileName(str(file)).build()
    )  # fmt: skip
    logger = log4j.LogManager.getLogger(name)
    before = logger.getLevel()
    appender.start()
    log4j.core.config.Configurator.setLevel(name, log4j.Level.INFO)
    logger.addAppender(appender)
    try:
        yield
    finally:
        logger.removeAppender(appender)
        log4j.core.config.Configurator.setLevel(name, before)
        appender.stop()


def test_log_lines_name_table_run_and_cube(spark, path, tmp_path):
    make(spark, path)
    with logged(spark, tmp_path / "log"):
        result = ClusteredTable.for_path(spark, path).optimize(**cube_sizes(spark, path))
    lines = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    runs = {
        re.fullmatch(r"INFO (.*): OPTIMIZE ([0-9a-f-]{36}): .*", line).groups() for line in lines
    }
    assert len(runs) == 1
    assert runs.pop()[0].endswith(path)
    assert f": 2 cubes to write of {result.files_removed} files, " in lines[0]
    for number, cube in enumerate(result.cubes, 1):
        own = [line for line in lines if f": cube {number} of 2: " in line]
        assert len(own) == 2
        assert (
            f"{cube.files} files written to {cube.files_added} files of ZCube {cube.id}" in own[0]
        )
        assert f"ZCube {cube.id} is in version {cube.version}; " in own[1]
    assert len(live_files(path)) == result.files_added
