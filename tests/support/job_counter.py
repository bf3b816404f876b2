"""Counts the Spark jobs that a block of code runs, with what they read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class SparkJob:
    """One Spark job that has ended.

    Attributes:
        description: what the Spark UI shows, or "".
        input_records: rows read from storage by its stages.
        input_bytes: bytes read from storage by its stages.
        shuffle_records: rows written to shuffles by its stages.
        shuffle_bytes: bytes written to shuffles by its stages.
        spilled_bytes: bytes that didn't fit into memory.
        cpu_ms: CPU time of its stages' tasks.
    """

    id: int
    description: str
    input_records: int
    input_bytes: int
    shuffle_records: int
    shuffle_bytes: int
    spilled_bytes: int
    cpu_ms: float


@dataclass
class JobList:
    """The jobs of a block; filled in when the block ends."""

    jobs: list[SparkJob] = field(default_factory=list)

    @property
    def descriptions(self) -> list[str]:
        """The jobs' descriptions, in the order in which they started."""
        return [job.description for job in self.jobs]

    def described(self, text: str) -> list[SparkJob]:
        """The jobs with this text in their description."""
        return [job for job in self.jobs if text in job.description]

    def reading(self, at_least: int) -> list[SparkJob]:
        """The jobs that read ``at_least`` rows or more from storage."""
        return [job for job in self.jobs if job.input_records >= at_least]

    def __len__(self) -> int:
        return len(self.jobs)


class JobCounter:
    """Reads Spark's own status store: ``with job_counter() as jobs: …; len(jobs)``."""

    def __init__(self, spark: SparkSession) -> None:
        self._sc = spark.sparkContext._jsc.sc()

    @contextmanager
    def __call__(self) -> Iterator[JobList]:
        before = set(self._ids())
        found = JobList()
        yield found
        found.jobs = [self._job(i) for i in self._ids() if i not in before]

    def _ids(self) -> list[int]:
        # Events reach the store through a queue, so that it must be empty before we look.
        self._sc.listenerBus().waitUntilEmpty()
        jobs = self._sc.statusStore().jobsList(None)
        return sorted(jobs.apply(i).jobId() for i in range(jobs.size()))

    def _job(self, job_id: int) -> SparkJob:
        store = self._sc.statusStore()
        job = store.job(job_id)
        stage_ids = [job.stageIds().apply(i) for i in range(job.stageIds().size())]
        # A skipped stage has no attempt and read nothing.
        data = [store.lastStageAttempt(i) for i in self._attempted(stage_ids)]
        return SparkJob(
            id=job_id,
            description=job.description().get() if job.description().isDefined() else "",
            input_records=sum(stage.inputRecords() for stage in data),
            input_bytes=sum(stage.inputBytes() for stage in data),
            shuffle_records=sum(stage.shuffleWriteRecords() for stage in data),
            shuffle_bytes=sum(stage.shuffleWriteBytes() for stage in data),
            spilled_bytes=sum(stage.memoryBytesSpilled() for stage in data),
            cpu_ms=sum(stage.executorCpuTime() for stage in data) / 1e6,
        )

    def _attempted(self, stage_ids: list[int]) -> list[int]:
        tracker = self._sc.statusTracker()
        return [i for i in stage_ids if tracker.getStageInfo(i).isDefined()]
