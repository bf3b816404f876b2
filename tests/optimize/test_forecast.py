"""Compares a dry run's forecast with the run itself."""

import json

import pytest
from pyspark.errors import AnalysisException
from zcube import ClusteredTable, ZCubeError, cli
from zcube.results.plan import ColumnForecast, Forecast

from tests.support.log_replay import data_files_on_disk, last_version
from tests.support.matrix import cases
from tests.support.written_log import set_operation_metrics

SMALL = 12 << 10


def points(spark, start, count, parts=1):
    return spark.range(start, start + count, 1, parts).selectExpr(
        "id", "hash(id) x", "hash(id, 1) & 1023 y", "if(id % 7 = 0, NULL, hex(hash(id, 2))) s"
    )


def forecast_and_truth(table, columns, **how):
    """Return the forecast, and for each column and ``*`` pairs of (predicted, measured)."""
    before = table.quality(columns=columns)
    forecast = table.optimize(**how, dry_run=True, forecast=True).forecast
    table.optimize(**how)
    after = table.quality(columns=columns)
    pairs = {}
    for foreseen, was, now in zip(
        forecast.quality, [*before.columns, before.all], [*after.columns, after.all], strict=True
    ):
        assert foreseen.column == now.column
        assert foreseen.average_depth_before == was.average_depth
        assert foreseen.skipping_before == was.skipping_effectiveness
        pairs[now.column] = (
            (foreseen.average_depth_after, now.average_depth),
            (foreseen.skipping_after, now.skipping_effectiveness),
        )
    assert forecast.files_before == before.all.files
    assert forecast.files_after == after.all.files
    return forecast, pairs


# The limits are about twice the error stated in docs/zorder.md.
@pytest.mark.parametrize(
    ("curve", "depth_error"), cases([("hilbert", 0.2), ("kdtree", 0.2)], {("hilbert", 0.2)})
)
def test_a_sample_foresees_depth_and_skipping(spark, path, curve, depth_error):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(80 << 10))
    points(spark, 0, 160_000, 4).select("x", "y").write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    how = {"zorder_by": ["x", "y"], "curve": curve}
    forecast, pairs = forecast_and_truth(table, ["x", "y"], **how)
    assert forecast.rows == 160_000
    assert forecast.sampled_rows == 100_000
    assert forecast.files_after > 7
    for (depth, real_depth), (skipping, real_skipping) in pairs.values():
        assert depth == pytest.approx(real_depth, rel=depth_error)
        assert skipping == pytest.approx(real_skipping, abs=0.05)


def test_a_table_that_is_sampled_whole_is_foreseen_exactly(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    points(spark, 0, 6000, 3).write.format("delta").clusterBy("x", "s").save(path)
    table = ClusteredTable.for_path(spark, path)
    forecast, pairs = forecast_and_truth(table, ["x", "s"])
    assert forecast.sampled_rows == forecast.rows == 6000
    # The second run merges nothing: files that stay are part of the forecast.
    points(spark, 6000, 900).write.format("delta").mode("append").save(path)
    again, more = forecast_and_truth(table, ["x", "s"])
    assert again.rows == 900
    assert again.files_before == forecast.files_after + 1
    for pair in (*pairs.values(), *more.values()):
        for foreseen, real in pair:
            assert foreseen == pytest.approx(real, abs=1e-9)


@pytest.mark.long
def test_the_forecast_follows_partitions_weights_and_where(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(SMALL))
    rows = points(spark, 0, 6000, 2).selectExpr("*", "id % 2 p")
    rows.write.format("delta").partitionBy("p").save(path)
    table = ClusteredTable.for_path(spark, path)
    how = {"zorder_by": ["x", "y"], "where": "p = 1", "curve": "kdtree", "weights": {"x": 3}}
    forecast, pairs = forecast_and_truth(table, ["x", "y"], **how)
    assert forecast.rows == 3000
    for pair in pairs.values():
        for foreseen, real in pair:
            assert foreseen == pytest.approx(real, abs=1e-9)


def test_it_reads_only_when_asked_and_writes_nothing(spark, path, job_counter):
    points(spark, 0, 2000, 2).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    disk, version = data_files_on_disk(path), last_version(path)
    with job_counter() as jobs:
        plain = table.optimize(zorder_by=["x"], dry_run=True)
    assert not jobs.reading(2000)
    assert (plain.forecast.quality, plain.forecast.rows) == (None, None)
    assert (plain.forecast.files_before, plain.forecast.files_after) == (2, 1)
    with job_counter() as jobs:
        plan = table.optimize(zorder_by=["x"], dry_run=True, forecast=True)
    assert len(jobs.reading(2000)) == 1
    assert plan.forecast.all.column == "*"
    assert "depth" in str(plan)
    assert "skipping" in plan._repr_html_()
    assert json.loads(json.dumps(plan.to_dict()))["forecast"]["rows"] == 2000
    assert (data_files_on_disk(path), last_version(path)) == (disk, version)
    with pytest.raises(ZCubeError, match="dry_run=True"):
        table.optimize(zorder_by=["x"], forecast=True)
    with pytest.raises(AnalysisException) as rejection:
        spark.sql(f"OPTIMIZE '{path}' ZORDER BY (x) OPTIONS ('forecast' = 'true')").collect()
    assert rejection.value.getCondition() == "ZCUBE_FORECAST_NOT_TAKEN"
    with pytest.raises(AnalysisException) as rejection:
        spark.sql(f"OPTIMIZE '{path}' ZORDER BY (x) OPTIONS ('forecast' = 'soon') DRY RUN")
    assert rejection.value.getCondition() == "ZCUBE_INVALID_OPTION"
    assert (data_files_on_disk(path), last_version(path)) == (disk, version)


@pytest.mark.long
def test_cpu_time_is_at_the_rate_of_earlier_runs(spark, path):
    points(spark, 0, 2000, 2).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    first = table.optimize(zorder_by=["x"], dry_run=True)
    assert (first.forecast.cpu_time_ms, first.forecast.earlier_runs) == (None, 0)
    assert "no history yet" in str(first)
    table.optimize(zorder_by=["x"])
    # As if the run had read 1,000,000 bytes in 4 s.
    set_operation_metrics(path, last_version(path), cpuTimeMs=4000, numRemovedBytes=1_000_000)
    table.optimize(zorder_by=["y"])
    set_operation_metrics(path, last_version(path), cpuTimeMs=2000, numRemovedBytes=500_000)
    plan = table.optimize(zorder_by=["x", "y"], dry_run=True)
    assert plan.forecast.earlier_runs == 2
    assert plan.forecast.cpu_time_ms == pytest.approx(plan.bytes_read * 6000 / 1_500_000, abs=1)
    assert "by 2 earlier commits" in str(plan)
    nothing = table.optimize(zorder_by=["y"], dry_run=True)
    assert (nothing.cubes, nothing.forecast.cpu_time_ms) == ([], 0)


def test_the_forecast_of_all_columns_is_found_by_its_name():
    columns = [ColumnForecast(name, 3.0, 1.0, 0.1, 0.9) for name in ("*", "x", "`*`")]
    for ordered in (columns, columns[::-1]):
        assert Forecast(9, 9, None, 0, 5, 5, ordered).all is columns[0]
    for none in (None, []):
        assert Forecast(9, 9, None, 0, None, None, none).all is None


def test_the_command_rejects_a_forecast_without_a_plan():
    with pytest.raises(SystemExit) as stop:
        cli.main(["optimize", "/x", "--zorder-by", "x", "--forecast"])
    assert stop.value.code == 2
