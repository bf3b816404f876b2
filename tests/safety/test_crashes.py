"""kill -9 of a driver at each step of an OPTIMIZE: what is committed stays, and no row is lost."""

import pytest
from zcube import ClusteredTable

from tests.support.checksum import multiset
from tests.support.kill import kill_optimize
from tests.support.log_replay import last_version, live_files
from tests.support.matrix import cases
from tests.support.tables import cube_sizes, make

# The point, how many cubes the run makes, and how many of them are committed by then.
STEPS = {
    "before sampling": ("before-sampling", 2, 0),
    "while writing": ("writing", 2, 0),
    "between write and commit": ("before-commit", 2, 0),
    "between two commits": ("after-commit", 2, 1),
    "after the last commit": ("after-commit", 1, 1),
}


@pytest.mark.parametrize("step", cases(STEPS, {"between two commits"}))
def test_a_killed_driver_loses_no_row_and_the_next_run_goes_on(spark, path, tmp_path, step):
    place, cubes, committed = STEPS[step]
    make(spark, path)
    before, version = multiset(spark.read.format("delta").load(path)), last_version(path)
    sizes = cube_sizes(spark, path) if cubes == 2 else {}
    cube = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"
    # One cube after the other.
    settings = ["spark.databricks.delta.optimize.maxThreads=1"]
    if sizes:
        settings.append(f"{cube}.threshold={sizes['min_cube_size']}")
        settings.append(f"{cube}.targetCubeSize={sizes['target_cube_size']}")
        settings.append(f"spark.zcube.layout.maxJobBytes={sizes['target_cube_size']}")
    assert kill_optimize(path, tmp_path / "points", place, *settings)
    if place != "writing":
        assert last_version(path) == version + committed
    assert multiset(spark.read.format("delta").load(path)) == before
    # The next run continues from there.
    done = last_version(path) - version
    result = ClusteredTable.for_path(spark, path).optimize(**sizes)
    assert result.files_removed == 6 - 6 * done // cubes
    assert multiset(spark.read.format("delta").load(path)) == before
    assert all("ZCUBE_ID" in file.tags for file in live_files(path))
