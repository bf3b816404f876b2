"""kill -9 of a driver at each step of an OPTIMIZE: what is committed stays, and no row is lost."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from zcube import ClusteredTable

from tests.support.checksum import multiset
from tests.support.failure_points import FailurePoints
from tests.support.log_replay import data_files_on_disk, last_version, live_files
from tests.test_conflicts import cube_sizes, make

ROOT = Path(__file__).parent.parent
# The place, and how many of the two cubes are committed by then.
STEPS = {"before-sampling": 0, "writing": 0, "before-commit": 0, "after-commit": 1}


@pytest.mark.parametrize("step", STEPS)
def test_kill(spark, path, tmp_path, step):
    make(spark, path)
    before, version = multiset(spark.read.format("delta").load(path)), last_version(path)
    known = data_files_on_disk(path)
    sizes = cube_sizes(path)
    folder = tmp_path / "points"
    folder.mkdir()
    points = FailurePoints(folder)
    if step != "writing":
        points.stop_at(step)
    cube = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"
    process = subprocess.Popen(
        [
            sys.executable, "-m", "tests.support.optimize_process", path,
            f"{cube}.threshold={sizes['min_cube_size']}",
            f"{cube}.targetCubeSize={sizes['target_cube_size']}",
            # One cube after the other.
            "spark.databricks.delta.optimize.maxThreads=1",
            f"spark.sql.warehouse.dir={tmp_path / 'warehouse'}",
        ],
        cwd=ROOT,
        env={**os.environ, "ZCUBE_FAILURE_POINTS": str(folder), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        if step == "writing":
            end = time.monotonic() + 180
            while data_files_on_disk(path) == known:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.001)
        else:
            points.wait_for(step, lambda: process.poll() is None)
    finally:
        # Python and the JVM that it started.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if step != "writing":
        assert last_version(path) == version + STEPS[step]
    assert multiset(spark.read.format("delta").load(path)) == before
    # The next run goes on from there.
    done = last_version(path) - version
    result = ClusteredTable.for_path(spark, path).optimize(**sizes)
    assert result.files_removed == (6 if done == 0 else 3)
    assert multiset(spark.read.format("delta").load(path)) == before
    assert all("ZCUBE_ID" in file.tags for file in live_files(path))
