"""kill -9 of a driver that optimizes a table, at some point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support import jars
from tests.support.failure_points import FailurePoints
from tests.support.log_replay import data_files_on_disk

ROOT = Path(__file__).parent.parent.parent


def python_path() -> str:
    """The environment with which a process can import the tests, and this process's paths."""
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(ROOT), given] if given else [str(ROOT)])


def kill_optimize(path: str, folder: Path, step: str, *arguments: str) -> bool:
    """Start a process that optimizes the table, and kill it with its JVM when it reaches ``step``.

    ``step`` is one of ``FailurePoints.PLACES``, or ``writing``: once a data file is there.

    Returns:
        False if the process ended before it got there.
    """
    folder.mkdir()
    points = FailurePoints(folder)
    if step != "writing":
        points.stop_at(step)
    known = data_files_on_disk(path)
    process = subprocess.Popen(
        [
            sys.executable, "-m", "tests.support.optimize_process", path, *arguments,
            f"spark.sql.warehouse.dir={folder / 'warehouse'}",
            "spark.databricks.delta.snapshotPartitions=2", "spark.sql.shuffle.partitions=4",
            f"spark.jars={jars.of_session()}",
        ],
        cwd=ROOT,
        env={**os.environ, "ZCUBE_FAILURE_POINTS": str(folder), "PYTHONPATH": python_path()},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    end = time.monotonic() + 300
    try:
        while True:
            if step == "writing":
                reached = data_files_on_disk(path) != known
            else:
                reached = points.reached(step)
            if reached or process.poll() is not None:
                return reached
            assert time.monotonic() < end, f"the run neither ended nor came to {step}"
            time.sleep(0.001 if step == "writing" else 0.02)
    finally:
        # Python and the JVM that it started.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
