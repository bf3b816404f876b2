"""Measures Spark's work from its event log, which is documented, without using Java objects."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MARKER_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Work:
    """What Spark did between two points in time.

    Attributes:
        jobs: Spark jobs that were started.
        input_scans: jobs that read at least as many rows as are in the table.
        cpu_seconds: CPU time of all tasks.
    """

    jobs: int
    input_scans: int
    cpu_seconds: float


def settings(folder: Path) -> dict[str, str]:
    """Return the Spark settings that make it write an event log to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.resolve().as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }


class EventLog:
    """Reads one application's log while it is being written."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._prefix = folder / spark.sparkContext.applicationId

    def position(self) -> int:
        """Return where the log ends once all events up to now are in it.

        Events go through a queue in order, so this runs a marker job. When the log has its end, it
        has all events before it.
        """
        marker = f"zcube demo marker {uuid.uuid4()}"
        context = self._spark.sparkContext
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(marker)
        context.parallelize([0], 1).count()
        context.setJobDescription(before)  # type: ignore[arg-type]
        deadline = time.monotonic() + _MARKER_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            job = None
            for end, event in self._events(0):
                if event["Event"] == "SparkListenerJobStart" and _description(event) == marker:
                    job = event["Job ID"]
                elif event["Event"] == "SparkListenerJobEnd" and event["Job ID"] == job:
                    return end
            time.sleep(0.05)
        raise ZCubeError(f"Spark wrote no event log to {self._prefix.parent} in time.")

    def work(self, start: int, end: int, rows: int) -> Work:
        """Sum up the work between two positions, for a table with ``rows`` rows."""
        stages: dict[int, int] = {}
        jobs: dict[int, list[int]] = {}
        cpu = 0
        for position, event in self._events(start):
            if position > end:
                break
            if event["Event"] == "SparkListenerJobStart":
                if not _description(event).startswith("zcube demo marker"):
                    jobs[event["Job ID"]] = event["Stage IDs"]
            elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                metrics = event["Task Metrics"]
                cpu += metrics["Executor CPU Time"]
                stage = event["Stage ID"]
                stages[stage] = stages.get(stage, 0) + metrics["Input Metrics"]["Records Read"]
        scans = sum(any(stages.get(stage, 0) >= rows for stage in ids) for ids in jobs.values())
        return Work(len(jobs), scans, cpu / 1e9)

    def _events(self, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the complete events in the log, each with the position where its line ends."""
        with Path(f"{self._prefix}.inprogress").open("rb") as log:
            log.seek(start)
            position = start
            for line in log:
                if not line.endswith(b"\n"):
                    return
                position += len(line)
                yield position, json.loads(line)


def _description(event: dict[str, Any]) -> str:
    return str(event.get("Properties", {}).get("spark.job.description") or "")
