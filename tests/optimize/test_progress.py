"""Quality before and after an OPTIMIZE, its progress bar, and Ctrl-C."""

import io
import json
import os
import re
import signal
import sys
import threading
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from rich import console as rich_console
from rich.progress import Progress
from zcube import ClusteredTable, ZCubeError
from zcube._log.spark import SparkLog
from zcube._spark import gateway, progress
from zcube.results.optimize import OptimizeResult
from zcube.results.quality import ClusteringQuality, ColumnQuality

from tests.reference import overlaps
from tests.support.checksum import multiset
from tests.support.log_replay import (
    data_files_on_disk,
    files_ever_added,
    last_version,
    live_files,
)
from tests.support.processes import run_here
from tests.support.tables import cube_sizes, extents, make


def test_measure_reports_quality_before_and_after(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(4 << 10))
    rows = spark.range(0, 2000, 1, 6).selectExpr("hash(id) x", "hash(id, 1) y")
    rows.write.format("delta").clusterBy("x", "y").save(path)
    table = ClusteredTable.for_path(spark, path)
    assert table.optimize(max_bytes=1).to_dict()["after"] is None

    def expected():
        return overlaps.boxes([extents(path, "x"), extents(path, "y")])["average_depth"]

    before = expected()
    result = table.optimize(measure=True)
    after = expected()
    assert result.before.all.average_depth == pytest.approx(before)
    assert result.after.all.average_depth == pytest.approx(after)
    assert after < before
    last = str(result).splitlines()[-1]
    assert last.startswith(f"average depth {before:.2f} → {after:.2f}, skipping ")
    page = result._repr_html_()
    assert "<th>average depth before</th><th>after</th>" in page
    assert f"<td>*</td><td>{before:.2f}</td><td>{after:.2f}</td>" in page
    values = json.loads(json.dumps(result.to_dict()))
    assert values["after"]["all"]["files"] == len(live_files(path))
    assert values["before"]["all"]["average_depth"] == pytest.approx(before)
    with pytest.raises(ZCubeError, match="dry run changes nothing"):
        table.optimize(dry_run=True, measure=True)


def figures(column, depth):
    return ColumnQuality(column, 9, 9, depth, 2, 1.0, {2: 9}, 0, depth / 10, "")


def quality_by(*columns, depth):
    rows = [figures(column, depth) for column in columns]
    return ClusteringQuality(rows, figures("*", depth), 1, 9, 9, 0, 0, _files_read=list)


def test_columns_that_changed_during_the_run_are_compared_by_name():
    result = OptimizeResult(
        path="t", files_removed=1, files_added=1, bytes_removed=1, bytes_added=1, partitions=1,
        cubes=[], kept={}, left_files=0, left_bytes=0, metrics={},
        before=quality_by("x", "y", depth=4.0), after=quality_by("y", "z", depth=2.0),
    )  # fmt: skip
    rows = re.findall("<tr><td>(.*?)</td></tr>", result._repr_html_())
    assert [row.split("</td><td>") for row in rows] == [
        ["x", "4.00", "–", "40.0 %", "–"],
        ["y", "4.00", "2.00", "40.0 %", "20.0 %"],
        ["z", "–", "2.00", "–", "20.0 %"],
        ["*", "4.00", "2.00", "40.0 %", "20.0 %"],
    ]


def test_measuring_neither_prevents_a_compaction_nor_hides_its_result(spark, path, monkeypatch):
    spark.range(0, 2000, 1, 6).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    # Without columns there is nothing to measure by.
    result = table.optimize(measure=True)
    assert (result.files_removed, result.before, result.after) == (6, None, None)
    measured = []

    def failing(self, **how):
        measured.append(how)
        if len(measured) == 2:
            raise ZCubeError("the log can't be read")
        return quality(self, **how)

    quality = ClusteredTable.quality
    monkeypatch.setattr(ClusteredTable, "quality", failing)
    with pytest.warns(RuntimeWarning, match="is complete, but measuring it failed: the log can't"):
        result = table.optimize(zorder_by=["id"], measure=True)
    assert result.files_removed == 1
    assert result.before.all.files == 1
    assert result.after is None
    assert last_version(path) == 2


@pytest.fixture
def terminal(monkeypatch):
    """Captures what is written to standard error as if it were a terminal."""
    written = io.StringIO()
    plain = rich_console.Console

    class Terminal(plain):
        def __init__(self, **_):
            super().__init__(file=written, force_terminal=True, width=160)

    monkeypatch.setattr(rich_console, "Console", Terminal)
    return written


def test_the_bar_counts_the_cubes_that_are_written(spark, path, terminal, monkeypatch):
    make(spark, path)
    monkeypatch.setattr(progress, "_SECONDS", 0.02)
    result = ClusteredTable.for_path(spark, path).optimize(progress=True, **cube_sizes(spark, path))
    cubes = len(result.cubes)
    assert cubes == 2
    shown = terminal.getvalue()
    # Spark's own jobs showed this.
    assert f" of {cubes} cubes written" in shown
    assert "iB/s" in shown
    assert "done" in shown
    assert not spark.sparkContext.getJobTags()
    assert "RewriteProgress" not in listeners(spark)


def test_the_bar_shows_how_far_a_run_is_while_it_runs(spark, path, terminal, monkeypatch):
    make(spark, path)
    polled, written = threading.Event(), []

    def current():
        written.append(terminal.getvalue())
        if len(written) > 2:
            polled.set()
        return 7, 3.5, 2 << 20

    def optimize():
        with progress.watched(spark, True):
            assert polled.wait(60)
            time.sleep(0.3)
            shown.append(terminal.getvalue())

    shown = []
    monkeypatch.setattr(gateway, "rewrite_progress", lambda *_: nullcontext(current))
    monkeypatch.setattr(progress, "_SECONDS", 0.02)
    optimize()
    assert "3 of 7 cubes written" in shown[0]
    assert "2.0 MiB, " in shown[0]
    assert "done" not in shown[0]
    assert "done" in terminal.getvalue()


def test_a_closed_standard_error_ends_the_bar_and_not_the_process(spark, path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, _):
            raise BrokenPipeError("nobody reads")

    plain = rich_console.Console

    class Terminal(plain):
        def __init__(self, **_):
            super().__init__(file=Closed(), force_terminal=True, width=160)

    monkeypatch.setattr(rich_console, "Console", Terminal)
    monkeypatch.setattr(progress, "_SECONDS", 0.02)
    redirected = []
    monkeypatch.setattr(os, "dup2", lambda *_: redirected.append(1))
    make(spark, path)
    result = ClusteredTable.for_path(spark, path).optimize(progress=True)
    assert result.files_removed == 6
    assert not redirected


def test_the_bar_is_silent_when_not_interactive(spark, path, capfd):
    make(spark, path)
    ClusteredTable.for_path(spark, path).optimize(progress=True)
    assert capfd.readouterr().err == ""


def listeners(spark):
    return str(spark._jsc.sc().listenerBus().listeners().toString())


def missing(*_):
    raise TypeError("'JavaPackage' object is not callable")


@pytest.mark.parametrize("failing", ["poll", "start", "add_task", "update", "stop"])
def test_a_bar_that_fails_does_no_harm(spark, path, terminal, monkeypatch, failing):
    make(spark, path)
    before, version = multiset(spark.read.format("delta").load(path)), last_version(path)
    calls, stopped = [], []
    stop = Progress.stop

    def fail(*arguments, **_):
        calls.append(1)
        if failing == "stop":
            stop(*arguments)
        raise RuntimeError("no progress")

    def note(bar):
        stopped.append(1)
        stop(bar)

    monkeypatch.setattr(Progress, "stop", note)
    if failing == "poll":
        monkeypatch.setattr(gateway, "rewrite_progress", lambda *_: nullcontext(fail))
    else:
        monkeypatch.setattr(Progress, failing, fail)
    monkeypatch.setattr(progress, "_SECONDS", 0.02)
    result = ClusteredTable.for_path(spark, path).optimize()
    # The watch gives up after the first failure; at the end each is tried again.
    assert 1 <= len(calls) <= (3 if failing in ("poll", "update") else 1)
    assert stopped or failing == "stop"
    assert not spark.sparkContext.getJobTags()
    assert "RewriteProgress" not in listeners(spark)
    assert not [thread for thread in threading.enumerate() if thread.name == "zcube-progress"]
    assert result.files_removed == 6
    assert result.files_added == len(live_files(path))
    assert last_version(path) == version + 1
    assert multiset(spark.read.format("delta").load(path)) == before


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError("no terminal\r\nat all"), "no terminal"),
        # A sentence that ends in nothing says nothing.
        (BrokenPipeError(), "BrokenPipeError"),
    ],
)
def test_a_bar_that_is_asked_for_and_cannot_start_is_an_error_before_the_run(
    spark, path, terminal, monkeypatch, error, said
):
    make(spark, path)
    version = last_version(path)

    def fail(_):
        raise error

    monkeypatch.setattr(Progress, "start", fail)
    with pytest.raises(ZCubeError, match=f"can't be shown: {said}. Leave"):
        ClusteredTable.for_path(spark, path).optimize(progress=True)
    assert last_version(path) == version
    assert "RewriteProgress" not in listeners(spark)


def test_without_the_jars_progress_only_a_bar_that_is_asked_for_is_rejected(
    spark, path, terminal, monkeypatch
):
    make(spark, path)
    version = last_version(path)
    monkeypatch.setattr("zcube._spark.gateway.rewrite_progress", missing)
    table = ClusteredTable.for_path(spark, path)
    with pytest.raises(ZCubeError, match=r"not callable.*Use the jar of this package"):
        table.optimize(progress=True)
    assert last_version(path) == version
    assert table.optimize().files_removed == 6
    assert not spark.sparkContext.getJobTags()


@pytest.mark.parametrize("cubes", [1, 2])
def test_a_run_on_delta_is_followed_to_its_end(spark, path, cubes):
    """The cubes of two small partitions share their jobs."""
    rows = spark.range(0, 400, 1, 3).selectExpr("id", "hash(id) x", f"id % {cubes} p")
    rows.write.format("delta").partitionBy("p").save(path)
    size = sum(file.size for file in live_files(path))
    spark.sparkContext.addJobTag("followed")
    try:
        with gateway.rewrite_progress(spark, "followed") as progress:
            assert progress() == (0, 0, 0)
            assert "RewriteProgress" in listeners(spark)
            spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id, x)")
            # Spark's events come a little later.
            deadline = time.monotonic() + 60
            while progress()[2] < size and time.monotonic() < deadline:
                time.sleep(0.01)
            assert progress() == (cubes, pytest.approx(cubes), size)
    finally:
        spark.sparkContext.removeJobTag("followed")
    assert "RewriteProgress" not in listeners(spark)


def test_without_rich_only_progress_is_rejected(spark, path, monkeypatch):
    make(spark, path)
    monkeypatch.setitem(sys.modules, "rich", None)
    table = ClusteredTable.for_path(spark, path)
    files = live_files(path)
    with pytest.raises(ZCubeError, match=r"pip install 'zcube\[progress\]'"):
        table.optimize(progress=True)
    assert live_files(path) == files
    # By default there is just no bar.
    assert table.optimize().files_removed == len(files)
    assert not {file.path for file in files} & {file.path for file in live_files(path)}


def test_ctrl_c_leaves_the_cubes_that_are_committed(
    spark,
    in_this_session,
    path,
    failure_points,
    capsys,
):
    make(spark, path)
    before, version = multiset(spark.read.format("delta").load(path)), last_version(path)
    sizes = cube_sizes(spark, path)
    # One cube after the other, and the run waits after the first.
    spark.conf.set("spark.databricks.delta.optimize.maxThreads", "1")
    failure_points.stop_at("after-commit")

    def press():
        failure_points.wait_for("after-commit")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(2)
        failure_points.clear()

    user = threading.Thread(target=press)
    user.start()
    code, out, err = run_here(
        capsys, "optimize", path,
        "--min-cube-size", str(sizes["min_cube_size"]),
        "--target-cube-size", str(sizes["target_cube_size"]),
    )  # fmt: skip
    user.join()
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == "zcube: stopped"
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    # The session still works, and the next run does the rest, because Java didn't continue by
    # itself.
    result = ClusteredTable.for_path(spark, path).optimize(**sizes)
    assert result.files_removed == 3
    assert last_version(path) == version + 2
    assert multiset(spark.read.format("delta").load(path)) == before
    assert data_files_on_disk(path) == files_ever_added(path)


def test_a_job_group_of_the_caller_stays(spark, path):
    make(spark, path)
    spark.sparkContext.setJobGroup("mine", "my work")
    try:
        ClusteredTable.for_path(spark, path).optimize()
        assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") == "mine"
    finally:
        spark.sparkContext._jsc.clearJobGroup()


@pytest.fixture
def slow_sampling(spark, path):
    """A table of 300 files, each of which is a task of its own."""
    spark.conf.set("spark.sql.files.openCostInBytes", "1g")
    spark.range(0, 3000, 1, 300).selectExpr("id", "hash(id) x").write.format("delta").save(path)
    return ClusteredTable.for_path(spark, path)


def interrupted_job(spark, call):
    """The job of 300 tasks during which Ctrl-C came, as Spark's status tracker knows it then."""
    tracker, found = spark.sparkContext.statusTracker(), []

    def runs(job):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getJobInfo(job).stageIds]
        return any(
            stage and 0 < stage.numCompletedTasks < stage.numTasks == 300 for stage in stages
        )

    def press():
        deadline = time.monotonic() + 60
        while not found and time.monotonic() < deadline:
            found.extend(job for job in tracker.getActiveJobsIds() if runs(job))
        os.kill(os.getpid(), signal.SIGINT)

    user = threading.Thread(target=press)

    def call_until_pressed():
        call()
        user.join()

    user.start()
    with pytest.raises(KeyboardInterrupt):
        call_until_pressed()
    user.join()
    (job,) = found
    deadline = time.monotonic() + 60
    while tracker.getJobInfo(job).status == "RUNNING" and time.monotonic() < deadline:
        time.sleep(0.02)
    return tracker.getJobInfo(job)


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.optimize(zorder_by=["id", "x"], dry_run=True, forecast=True),
        lambda table: table.recommend(["id < 50", "x = 7"]),
    ],
    ids=["forecast", "recommend"],
)
def test_ctrl_c_stops_the_sampling_of_statements_that_write_nothing(spark, slow_sampling, call):
    assert interrupted_job(spark, lambda: call(slow_sampling)).status == "FAILED"
    assert not spark.sparkContext.getJobTags()
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    assert call(slow_sampling)


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.files(["id"]),
        lambda table: table.cubes(),
        lambda table: table.files_read("id = 7"),
    ],
    ids=["files", "cubes", "files_read"],
)
def test_ctrl_c_stops_the_reading_of_the_log(spark, path, call):
    make(spark, path)
    log = SparkLog(spark, f"delta.`{path}`", path)
    # Else it would have been read, and by a task or two.
    spark.conf.set("spark.databricks.delta.snapshotPartitions", "300")
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert interrupted_job(spark, lambda: call(log)).status == "FAILED"
    assert not spark.sparkContext.getJobTags()
    call(log)


class DeadContext:
    """A Spark context whose Java process ends after the first statement has begun."""

    def __init__(self):
        self._begun = False
        self._jsc = self

    def __getattr__(self, _name):
        def call(*_):
            if self._begun:
                raise ConnectionRefusedError("Java is gone")

        return call

    def begin(self):
        self._begun = True


@pytest.mark.parametrize("raised", [RuntimeError("Java is gone"), KeyboardInterrupt()])
def test_what_the_block_raised_is_seen_when_java_is_gone(raised):
    context = DeadContext()

    def block():
        with gateway.stoppable(SimpleNamespace(sparkContext=context)):
            context.begin()
            raise raised

    with pytest.raises(type(raised)) as seen:
        block()
    assert seen.value is raised


def test_the_group_of_a_block_is_reset_whatever_else_fails():
    properties = {}

    def failing(_tag):
        raise RuntimeError("not now")

    context = SimpleNamespace(
        getLocalProperty=properties.get,
        setLocalProperty=properties.__setitem__,
        addJobTag=lambda _tag: None,
        removeJobTag=failing,
    )
    context._jsc = context
    with gateway.stoppable(SimpleNamespace(sparkContext=context)) as tag:
        assert properties == {"spark.jobGroup.id": tag}
    assert properties == {"spark.jobGroup.id": None}


def test_what_a_stopped_session_says_is_left_to_spark():
    stopped = SimpleNamespace(sparkContext=SimpleNamespace(_jsc=None))
    with pytest.raises(ZCubeError, match="stopped"), gateway.stoppable(stopped):
        raise ZCubeError("the session is stopped")
