"""A cluster with one driver, whose executors a test stops and kills, and whose files it removes.

Nothing here depends on timing: a test stops a process with SIGSTOP, finds out its work from Spark's
REST interface, and only then kills it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tests.support.failure_points import FailurePoints
from tests.support.kill import ROOT, python_path
from tests.support.standalone_cluster import JAVA_OPTIONS, StandaloneCluster

T = TypeVar("T")


class BreakingCluster:
    """Two executors of one core each, and a driver.

    Attributes:
        points: where a run of the driver waits.
    """

    def __init__(self, folder: Path, *settings: str) -> None:
        """Use the folder for logs, points and shuffle files; further settings are the driver's."""
        self._cluster = StandaloneCluster(folder)
        self._folder = folder
        self._settings = settings
        self.points = FailurePoints(folder / "points")

    def __enter__(self) -> BreakingCluster:
        """Start all, and return once both executors are there."""
        (self._folder / "points").mkdir()
        self._cluster.__enter__()
        self._log = (self._folder / "driver.log").open("w")
        self._driver = subprocess.Popen(
            [
                sys.executable, "-m", "tests.support.cluster_driver", self._cluster.master,
                "spark.driver.host=127.0.0.1", "spark.driver.memory=900m",
                "spark.executor.memory=600m", f"spark.sql.warehouse.dir={self._folder}/warehouse",
                f"spark.executor.extraJavaOptions={JAVA_OPTIONS}",
                "spark.sql.shuffle.partitions=4", "spark.databricks.delta.snapshotPartitions=2",
                # One cube after the other, with enough tasks for both executors.
                "spark.databricks.delta.optimize.maxThreads=1",
                "spark.sql.files.maxPartitionBytes=20000", "spark.sql.files.openCostInBytes=0",
                *self._settings,
            ],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env={
                **self._cluster.environment, "PYTHONPATH": python_path(),
                "ZCUBE_FAILURE_POINTS": str(self._folder / "points"),
            },
        )  # fmt: skip
        try:
            self._application, self._url = self._answer()
            until(lambda: len(self.executors()) == 2, "two executors")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all."""
        for executor in self.processes():
            os.kill(executor, signal.SIGCONT)
        self._driver.kill()
        self._driver.wait()
        self._log.close()
        self._cluster.__exit__(None, None, None)

    def run(self, sql: str) -> None:
        """Run a statement to its end."""
        self.begin(sql)
        self.finish()

    def begin(self, sql: str) -> None:
        """Have a statement run; ``finish`` waits for it."""
        assert self._driver.stdin is not None
        self._driver.stdin.write(json.dumps(sql) + "\n")
        self._driver.stdin.flush()

    def finish(self) -> None:
        """Wait for the statement's end, and fail if it did."""
        problem = self._answer()
        assert problem is None, problem

    def _answer(self) -> Any:
        assert self._driver.stdout is not None
        for line in self._driver.stdout:
            if line.startswith("ANSWER "):
                return json.loads(line[len("ANSWER ") :])
        raise AssertionError(
            f"the driver ended:\n{(self._folder / 'driver.log').read_text()[-3000:]}"
        )

    def rest(self, path: str) -> Any:
        """Spark's REST data on the application."""
        url = f"{self._url}/api/v1/applications/{self._application}/{path}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)

    def executors(self) -> list[str]:
        """The ids of the live executors."""
        found = self.rest("executors")
        return [e["id"] for e in found if e["isActive"] and e["id"] != "driver"]

    def lost_executors(self) -> set[str]:
        """The ids of the lost executors."""
        return {e["id"] for e in self.rest("allexecutors") if not e["isActive"]}

    def stages(self, **fields: Any) -> list[dict[str, Any]]:
        """All attempts of all stages with these fields."""
        return [s for s in self.rest("stages") if all(s[f] == v for f, v in fields.items())]

    def tasks(self, stage: dict[str, Any]) -> list[dict[str, Any]]:
        """The tasks of an attempt of a stage."""
        path = f"stages/{stage['stageId']}/{stage['attemptId']}/taskList?length=1000"
        tasks: list[dict[str, Any]] = self.rest(path)
        return tasks

    def running(self) -> dict[str, dict[str, Any]]:
        """From executor to the stage of its task."""
        return {
            task["executorId"]: stage
            for stage in self.stages(status="ACTIVE")
            for task in self.tasks(stage)
            if task["status"] == "RUNNING"
        }

    def processes(self) -> dict[int, str]:
        """The executors' processes: process id to executor id."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                command = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            backend = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"
            if backend in command and self._application.encode() in command:
                found[int(folder.name)] = command[command.index(b"--executor-id") + 1].decode()
        return found

    def process(self, executor: str) -> int:
        """The process of an executor."""
        return next(pid for pid, name in self.processes().items() if name == executor)

    def open_files(self, executor: str, path: str) -> set[str]:
        """The Parquet files below a folder that the executor is currently writing."""
        names = set()
        folder = Path(f"/proc/{self.process(executor)}/fd")
        for descriptor in list(folder.iterdir()):
            try:
                target = os.readlink(descriptor)
                flags = (folder.parent / "fdinfo" / descriptor.name).read_text()
            except OSError:
                continue
            writes = int(re.search(r"flags:\s+(\d+)", flags)[1], 8) & os.O_ACCMODE  # type: ignore[index]
            if writes and target.startswith(path) and target.endswith(".parquet"):
                names.add(target)
        return names

    def signal(self, executor: str, number: signal.Signals) -> None:
        """Send an executor's process a signal."""
        os.kill(self.process(executor), number)

    def shuffle_files(self, executor: str) -> list[Path]:
        """The shuffle files that an executor keeps for the others."""
        status = Path(f"/proc/{self.process(executor)}/status").read_text()
        worker = int(re.search(r"PPid:\s+(\d+)", status)[1])  # type: ignore[index]
        return list(self._cluster.local_folders[worker].rglob("shuffle_*"))


def until(condition: Callable[[], T], what: str, seconds: float = 120, pause: float = 0.05) -> T:
    """Wait for something, and return it."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(pause)
    return value
