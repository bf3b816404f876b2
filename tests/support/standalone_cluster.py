"""A Spark standalone cluster on loopback, with PySpark's jars."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType

import pyspark

from tests.support.class_archive import archived

SPARK = Path(pyspark.__file__).parent
# What lets the JVMs of a cluster, which soon end, start quickly.
JAVA_OPTIONS = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {archived()}".strip()


class StandaloneCluster:
    """A master and two workers of one core each: ``with StandaloneCluster(folder) as cluster: …``.

    Attributes:
        master: its URL.
        environment: what a driver's process needs in its environment.
        local_folders: where the executors of each worker keep their shuffle files.
    """

    def __init__(self, folder: Path, memory: str = "700m") -> None:
        """Use the folder for logs and work; nothing is started yet."""
        self._folder = folder
        self._memory = memory
        self._started: list[subprocess.Popen[bytes]] = []
        self._port = _free_port()
        self.master = f"spark://127.0.0.1:{self._port}"
        self.environment = dict(
            os.environ, SPARK_LOCAL_IP="127.0.0.1", SPARK_HOME=str(SPARK),
            SPARK_DAEMON_MEMORY="256m",
            SPARK_DAEMON_JAVA_OPTS=JAVA_OPTIONS, SPARK_WORKER_DIR=str(folder / "work"),
        )  # fmt: skip
        self.local_folders: dict[int, Path] = {}

    def __enter__(self) -> StandaloneCluster:
        """Start the processes, and return once both workers are registered."""
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop them."""
        self._stop()

    def _start(self) -> None:
        ui = ["--webui-port", "0"]
        log, _ = self._launch(
            "master", {}, "master.Master", "--host", "127.0.0.1", "--port", str(self._port), *ui
        )
        _wait_for(log, "New state: ALIVE")
        # Spark runs a speculative copy of a task only on another host, identified by name.
        for name, host in (("worker1", "127.0.0.1"), ("worker2", "localhost")):
            local = self._folder / f"{name}-local"
            log, pid = self._launch(
                name, {"SPARK_LOCAL_DIRS": str(local)}, "worker.Worker", "--host", host,
                "-c", "1", "-m", self._memory, *ui, self.master,
            )  # fmt: skip
            self.local_folders[pid] = local
            _wait_for(log, "Successfully registered with master")

    def _launch(self, name: str, extra: dict[str, str], *arguments: str) -> tuple[Path, int]:
        log = self._folder / f"{name}.log"
        process = subprocess.Popen(
            [str(SPARK / "bin/spark-class"), f"org.apache.spark.deploy.{arguments[0]}", *arguments[1:]],
            stdout=log.open("w"), stderr=subprocess.STDOUT, env={**self.environment, **extra},
        )  # fmt: skip
        self._started.append(process)
        return log, process.pid

    def _stop(self) -> None:
        for process in reversed(self._started):
            process.terminate()
        for process in self._started:
            process.wait(timeout=30)


def _free_port() -> int:
    with closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _wait_for(log: Path, text: str, seconds: int = 90) -> None:
    for _ in range(seconds * 5):
        if log.exists() and text in log.read_text():
            return
        time.sleep(0.2)
    raise AssertionError(f"{text!r} did not come up:\n{log.read_text()[-3000:]}")
