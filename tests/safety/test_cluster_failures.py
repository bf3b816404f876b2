"""OPTIMIZE while a cluster breaks: the same rows in the same layout as when nothing happens.

Two cubes, of one partition each, are laid out one after the other; the first meets the trouble.
"""

import os
import signal
from collections import Counter

import pyarrow.parquet as parquet
import pytest

from tests.support.breaking_cluster import BreakingCluster, until
from tests.support.log_replay import (
    actions,
    data_files_on_disk,
    files_ever_added,
    last_version,
    live_files,
)

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("ZCUBE_CLUSTER_ROUNDS", "1"))
OPTIMIZE = "OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ('maxFileSize' = '60000')"


class Table:
    """A table, and how an OPTIMIZE lays it out if nobody disturbs it."""

    def __init__(self, cluster, path):
        self.cluster = cluster
        self.path = str(path)
        cluster.run(
            f"CREATE TABLE delta.`{path}` USING delta PARTITIONED BY (p) AS SELECT /*+ REPARTITION(6) */ "
            "id, hash(id) x, hash(id, 1) y, string(hash(id, 2)) s, id % 2 p FROM range(60000)"
        )
        self.first = last_version(self.path)
        self.rows = self._rows()
        cluster.run(self.statement)
        self.boxes = self._boxes()
        assert sum(self.boxes.values()) > 12

    @property
    def statement(self):
        return OPTIMIZE.format(path=self.path)

    def _boxes(self):
        return Counter(file.box for file in live_files(self.path))

    def _rows(self):
        rows = Counter()
        for file in live_files(self.path):
            columns = parquet.ParquetFile(f"{self.path}/{file.path}").read().to_pydict()
            rows.update(zip(*(columns[name] for name in ("id", "x", "y", "s")), strict=True))
        return rows

    def _orphans(self):
        return data_files_on_disk(self.path) - files_ever_added(self.path)

    def restore(self):
        """As it was before any OPTIMIZE, with the same files."""
        self.cluster.run(f"RESTORE delta.`{self.path}` TO VERSION AS OF {self.first}")
        self.version = last_version(self.path)
        self.left_before = self._orphans()

    def check(self, unfinished=()):
        """Nothing is lost or otherwise laid out; only what a dead process wrote may be left."""
        assert self._rows() == self.rows
        assert self._boxes() == self.boxes
        new = range(self.version + 1, last_version(self.path) + 1)
        operations = [
            action["commitInfo"]["operation"]
            for version in new
            for action in actions(self.path, version)
            if "commitInfo" in action
        ]
        assert operations == ["OPTIMIZE"] * 2
        assert self._orphans() - self.left_before <= {
            os.path.relpath(file, self.path) for file in unfinished
        }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with BreakingCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def table(cluster, tmp_path_factory):
    return Table(cluster, tmp_path_factory.mktemp("tables") / "table")


def begin(table, place):
    """Start an OPTIMIZE; it waits at the place, with two executors that have nothing to do."""
    cluster = table.cluster
    table.restore()
    until(lambda: len(cluster.executors()) == 2, "two executors")
    cluster.points.stop_at(place)
    cluster.begin(table.statement)
    cluster.points.wait_for(place)
    assert not cluster.running()
    return sorted(cluster.executors())


def kill_with_a_task(cluster, victim):
    """A stopped executor gets a task, and dies with it."""
    cluster.signal(victim, signal.SIGSTOP)
    cluster.points.clear()
    stage = until(lambda: cluster.running().get(victim), "a task of the stopped executor")
    cluster.signal(victim, signal.SIGKILL)
    return stage


def assert_died_with_tasks(cluster, victim, stage):
    assert victim in cluster.lost_executors()
    after = cluster.rest(f"stages/{stage['stageId']}")
    assert sum(attempt["numFailedTasks"] for attempt in after) > 0


@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("place", ["before-sampling", "before-writing"])
def test_an_executor_dies_while_it_samples_or_shuffles(cluster, table, place, round_):
    victim = begin(table, place)[round_ % 2]
    stage = kill_with_a_task(cluster, victim)
    cluster.finish()
    assert_died_with_tasks(cluster, victim, stage)
    if place == "before-writing":
        assert stage["status"] == "ACTIVE"
        after = cluster.rest(f"stages/{stage['stageId']}")
        assert sum(attempt["shuffleWriteRecords"] for attempt in after) > 0
    table.check()


def stop_while_it_writes(cluster, table, candidates):
    """Stop the first executor that is found with an unfinished file."""
    cluster.points.clear()

    def caught():
        for executor in candidates:
            if cluster.open_files(executor, table.path):
                cluster.signal(executor, signal.SIGSTOP)
                # It may have closed it in between.
                if files := cluster.open_files(executor, table.path):
                    return executor, files
                cluster.signal(executor, signal.SIGCONT)
        return None

    return until(caught, "an executor that writes", pause=0.001)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_an_executor_dies_while_it_writes(cluster, table, round_):
    victim, unfinished = stop_while_it_writes(cluster, table, begin(table, "before-writing"))
    stage = until(lambda: cluster.running().get(victim), "its task")
    cluster.signal(victim, signal.SIGKILL)
    cluster.finish()
    assert_died_with_tasks(cluster, victim, stage)
    # Its rows are in another file, by another task.
    assert not {os.path.relpath(f, table.path) for f in unfinished} & files_ever_added(table.path)
    table.check(unfinished)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_shuffle_files_are_lost(cluster, table, round_):
    """Once one executor has done its part, and before the other has, so before anybody reads."""
    slow, robbed = begin(table, "before-writing")
    old = {file for e in (slow, robbed) for file in cluster.shuffle_files(e)}
    cluster.signal(slow, signal.SIGSTOP)
    cluster.points.clear()
    # All tasks but one are done, by the other one.
    stage = until(
        lambda: (
            (running := cluster.running()).keys() == {slow}
            and running[slow]["numCompleteTasks"] > 0
            and running[slow]
        ),
        "the last task",
    )
    lost = [file for file in cluster.shuffle_files(robbed) if file not in old]
    assert lost
    for file in lost:
        file.unlink()
    cluster.signal(slow, signal.SIGCONT)
    cluster.finish()
    failed = [s for s in cluster.stages(status="FAILED") if s["stageId"] > stage["stageId"]]
    assert any("FetchFailed" in s["failureReason"] for s in failed)
    assert max(a["attemptId"] for a in cluster.rest(f"stages/{stage['stageId']}")) > 0
    table.check()
