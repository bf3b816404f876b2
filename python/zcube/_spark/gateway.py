"""The one module that talks to Spark's JVM by py4j, where no SQL could do it."""

from __future__ import annotations

import io
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_JOB_GROUP = "spark.jobGroup.id"


def jvm_runs() -> bool:
    """Whether Spark's JVM is up, so that its class path can no longer be chosen."""
    # spark-submit starts the JVM first and Python second, and says so by this variable.
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def jvm_settings() -> dict[str, str]:
    """Return what the running JVM was started with: ``--conf``, spark-defaults.conf and so on."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf(loadDefaults=True).getAll())


def session_settings() -> dict[str, str] | None:
    """Return the settings of the Spark context that runs in this process, or None."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    return dict(context.getConf().getAll()) if context is not None else None


def _running_jvm() -> JVMView:
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    jvm = SparkContext._jvm
    assert jvm is not None
    return jvm


def has_class(name: str) -> bool:
    """Whether the running JVM finds a class, in its own jars or in those given to spark-submit."""
    from py4j.protocol import Py4JJavaError

    jvm = _running_jvm()
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
    except Py4JJavaError:
        return False
    return True


@contextmanager
def typed_errors(doing: str, *, connect: bool = False) -> Iterator[None]:
    """Turn what PySpark leaves as a bare Java error into a typed one.

    Delta's conflicts become ``delta.exceptions``; a module of Delta's, another one for Spark
    Connect, teaches PySpark how when it is imported. Whatever PySpark has no type for becomes a
    ``ZCubeError`` with the first line of Java's message; the Java error is its cause.
    """
    # By their full names: Delta 4.3's package does not import them by itself, as 4.4's does.
    with suppress(ImportError):
        import_module("delta.connect.exceptions" if connect else "delta.exceptions.captured")
    try:
        yield
    except Exception as error:
        # Over Spark Connect py4j need not be installed, and can't be what failed.
        if type(error).__name__ != "Py4JJavaError":
            raise
        summary = str(error.java_exception.toString()).splitlines()[0]  # type: ignore[attr-defined]
        raise ZCubeError(f"{doing} failed in Spark: {summary}") from error


def logged_files(rows: DataFrame) -> tuple[DataFrame, StructType, list[str]]:
    """Return the add actions of the Delta table that a DataFrame reads, as Delta itself has them.

    Returns:
        The actions, with ``stats`` as a struct; the table's schema, with the physical names of
        columns; the physical names of the partition columns.

    Raises:
        ZCubeError: the DataFrame doesn't read just one Delta table.
    """
    from py4j.protocol import Py4JError
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    try:
        if leaves.size() != 1:
            raise ZCubeError("This is a view of several tables, which has no files of its own.")
        snapshot = leaves.apply(0).relation().location().getSnapshot()
        actions = DataFrame(snapshot.withStats(), rows.sparkSession)
        partitions = snapshot.metadata().physicalPartitionSchema().fieldNames()
    except Py4JError as error:
        raise ZCubeError("This is no Delta table, so its log has no files.") from error
    schema = StructType.fromJson(json.loads(str(snapshot.schema().json())))
    return actions, schema, list(partitions)


def open_event_log(path: Path) -> BinaryIO:
    """Open an event log that Spark has compressed, by any codec, whole or still being written."""
    jvm = _running_jvm()
    hadoop_path = jvm.org.apache.hadoop.fs.Path(path.resolve().as_uri())
    files = hadoop_path.getFileSystem(jvm.org.apache.hadoop.conf.Configuration())
    reader = jvm.org.apache.spark.deploy.history.EventLogFileReader
    return io.BufferedReader(_JavaStream(reader.openEventLog(hadoop_path, files)), 1 << 20)


class _JavaStream(io.RawIOBase):
    """A Java InputStream, read in pieces as large as are asked for."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.readNBytes(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


@contextmanager
def stoppable(spark: SparkSession) -> Iterator[str]:
    """Let Ctrl-C stop the Spark jobs that the block starts, also those that Java starts later.

    PySpark's own handler of Ctrl-C means to cancel jobs, but the connection to Java is busy with
    the very call that is interrupted, so that nothing is cancelled and Java goes on.

    Returns:
        A tag that these jobs have.
    """
    context, tag = spark.sparkContext, f"zcube-{uuid.uuid4()}"
    # Spark cancels future jobs by their group only; one that the caller has set is left alone.
    grouped = context.getLocalProperty(_JOB_GROUP) is None
    context.addJobTag(tag)
    if grouped:
        context.setLocalProperty(_JOB_GROUP, tag)
    try:
        yield tag
    except KeyboardInterrupt:
        if grouped:
            context._jsc.sc().cancelJobGroupAndFutureJobs(tag)
        context.cancelJobsWithTag(tag)
        raise
    finally:
        context.removeJobTag(tag)
        if grouped:
            context._jsc.setLocalProperty(_JOB_GROUP, None)


def stages(spark: SparkSession, tag: str, ended: set[int]) -> list[tuple[int, str, int, int]]:
    """Return id, name, tasks and completed tasks of the stages of all jobs with a tag.

    Jobs in ``ended`` are passed over, and those that have ended are added to it, so that each is
    seen once more at its end and asking stays cheap.
    """
    tracker = spark.sparkContext.statusTracker()
    found = []
    for job in spark.sparkContext._jsc.sc().statusTracker().getJobIdsForTag(tag):
        info = None if job in ended else tracker.getJobInfo(job)
        if info is None:
            continue
        for stage in info.stageIds:
            known = tracker.getStageInfo(stage)
            if known:
                found.append((stage, known.name, known.numTasks, known.numCompletedTasks))
        if info.status in ("SUCCEEDED", "FAILED"):
            ended.add(job)
    return found
