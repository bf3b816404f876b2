"""OPTIMIZE with speculation: exactly one attempt of each task counts, whichever it is."""

import pytest

from tests.support import test_jar
from tests.support.breaking_cluster import BreakingCluster, until
from tests.support.matrix import cases
from tests.support.table_on_cluster import TableOnCluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    """The folder where a test sets which attempts are slow, and finds what each one wrote."""
    return tmp_path_factory.mktemp("overtaken")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, orders):
    assert test_jar.path().is_file(), test_jar.MISSING
    with BreakingCluster(
        tmp_path_factory.mktemp("cluster"),
        "spark.speculation=true",
        "spark.speculation.interval=10ms",
        "spark.speculation.quantile=0.1",
        "spark.speculation.multiplier=1.5",
        "spark.speculation.efficiency.enabled=false",
        "spark.locality.wait=0",
        # Not with spark.jars: files are read before these are loaded.
        f"spark.driver.extraClassPath={test_jar.path()}",
        f"spark.executor.extraClassPath={test_jar.path()}",
        "spark.hadoop.fs.file.impl=io.zcube.testing.OvertakenFileSystem",
        f"spark.hadoop.zcube.test.overtaken={orders}",
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def table(cluster, tmp_path_factory):
    return TableOnCluster(cluster, tmp_path_factory.mktemp("tables") / "table")


@pytest.mark.parametrize("place", cases(["begin", "end"], set()))
def test_no_row_is_doubled_when_an_attempt_is_overtaken(cluster, table, orders, place):
    """When it is killed, the slow attempt has a started file, or one with all its rows."""
    table.restore()
    for file in orders.iterdir():
        file.unlink()
    (orders / place).touch()
    cluster.run(table.statement)
    (orders / place).unlink()

    written = {tuple(map(int, file.name.split("-"))): file.read_text() for file in orders.iterdir()}
    stages = {stage["stageId"]: stage for stage in cluster.stages()}

    def ended():
        found = {
            (number, task["index"], task["attempt"]): task
            for number in {stage for stage, _, _ in written}
            for task in cluster.tasks(stages[number])
        }
        return all(task["status"] != "RUNNING" for task in found.values()) and found

    # Nothing waits for an attempt that doesn't count.
    attempts = until(ended, "the end of all attempts")
    slow = [attempt for attempt in written if attempt[1:] == (0, 0)]
    # One of each cube.
    assert len(slow) == 2
    for stage, task, _ in slow:
        loser, winner = attempts[stage, task, 0], attempts[stage, task, 1]
        assert (loser["status"], loser["speculative"]) == ("KILLED", False)
        assert (winner["status"], winner["speculative"]) == ("SUCCESS", True)
        assert loser["executorId"] != winner["executorId"]
    table.check(
        file for attempt, file in written.items() if attempts[attempt]["status"] != "SUCCESS"
    )
