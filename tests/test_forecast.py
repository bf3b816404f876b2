"""What a dry run foresees, against the run itself."""

import json
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from zcube import ClusteredTable, ZCubeError

from tests.support.log_replay import data_files_on_disk, last_version

POINTS = ("id", "hash(id) x", "hash(id, 1) & 1023 y", "format_string('%08x', hash(id, 2)) s")


def points(spark, start, count, parts=1):
    return spark.range(start, start + count, 1, parts).selectExpr(*POINTS)


def forecast_and_truth(table, **how):
    """Return (forecast, measured afterwards) of depth and skipping, for each column and ``*``."""
    plan = table.optimize(**how, dry_run=True, forecast=True)
    before = table.quality(columns=how.get("zorder_by"))
    table.optimize(**how)
    after = table.quality(columns=how.get("zorder_by"))
    names = [*(column.column for column in before.columns), "*"]
    pairs = {}
    for column, was, now in zip(
        plan.forecast.quality,
        [*before.columns, before.all],
        [*after.columns, after.all],
        strict=True,
    ):
        assert column.average_depth_before == was.average_depth
        assert column.skipping_before == was.skipping_effectiveness
        pairs[column.column] = (
            (column.average_depth_after, now.average_depth),
            (column.skipping_after, now.skipping_effectiveness),
        )
    assert list(pairs) == names
    return plan.forecast, pairs, after


@pytest.mark.parametrize("curve", ["zorder", "hilbert", "kdtree", "linear"])
def test_a_sample_of_a_quarter_foresees_depth_and_skipping(spark, path, curve):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(240 << 10))
    points(spark, 0, 400_000, 4).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    forecast, pairs, after = forecast_and_truth(table, zorder_by=["x", "y"], curve=curve)
    print(curve, forecast, pairs)
    assert forecast.rows == 400_000
    assert forecast.sampled_rows < 110_000
    assert forecast.files_after == after.all.files
