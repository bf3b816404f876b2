"""OPTIMIZE during cluster failures: the same rows in the same layout as without failures.

Two cubes, of one partition each, share a commit, as small ones do. In later rounds each has its
own, and they are laid out one after the other; the failure affects the first.
"""

import os
import signal

import pytest

from tests.support.breaking_cluster import BreakingCluster, until
from tests.support.log_replay import files_ever_added
from tests.support.table_on_cluster import TableOnCluster

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("ZCUBE_CLUSTER_ROUNDS", "1"))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with BreakingCluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def table(cluster, tmp_path_factory):
    return TableOnCluster(cluster, tmp_path_factory.mktemp("tables") / "table")


def begin(table, place, round_):
    """Start an OPTIMIZE, which waits at the point with two idle executors."""
    cluster = table.cluster
    table.restore(commits=1 + round_ // 2 % 2)
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


@pytest.mark.long
@pytest.mark.parametrize("round_", range(ROUNDS))
@pytest.mark.parametrize("place", ["before-sampling", "before-writing"])
def test_no_row_is_lost_when_an_executor_dies_while_it_samples_or_shuffles(
    cluster, table, place, round_
):
    victim = begin(table, place, round_)[round_ % 2]
    stage = kill_with_a_task(cluster, victim)
    cluster.finish()
    assert_died_with_tasks(cluster, victim, stage)
    if place == "before-writing":
        assert stage["status"] == "ACTIVE"
        after = cluster.rest(f"stages/{stage['stageId']}")
        assert sum(attempt["shuffleWriteRecords"] for attempt in after) > 0
    table.check()


def stop_while_it_writes(cluster, table, candidates):
    """Stop the first executor found with an unfinished file."""
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
def test_no_row_is_lost_when_an_executor_dies_while_it_writes(cluster, table, round_):
    victim, unfinished = stop_while_it_writes(
        cluster, table, begin(table, "before-writing", round_)
    )
    stage = until(lambda: cluster.running().get(victim), "its task")
    cluster.signal(victim, signal.SIGKILL)
    cluster.finish()
    assert_died_with_tasks(cluster, victim, stage)
    # Another task has written its rows to another file.
    assert not {os.path.relpath(f, table.path) for f in unfinished} & files_ever_added(table.path)
    table.check(unfinished)


@pytest.mark.long
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_no_row_is_lost_with_shuffle_files(cluster, table, round_):
    """After one executor has finished its part and before the other has, so before anything reads it."""
    slow, robbed = begin(table, "before-writing", round_)
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
