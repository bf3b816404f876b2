"""The only module that calls Spark's JVM through py4j, for what SQL can't do."""

from __future__ import annotations

import io
import json
import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from zcube._messages import first_line
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from py4j.java_gateway import JVMView
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_JOB_GROUP = "spark.jobGroup.id"


def jvm_runs() -> bool:
    """Return whether Spark's JVM is running, so that its class path can't be changed any more."""
    # spark-submit starts the JVM before Python, and sets this variable.
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def jvm_settings() -> dict[str, str]:
    """Return the settings that the JVM was started with: ``--conf``, spark-defaults.conf, …."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf(loadDefaults=True).getAll())


def session_settings() -> dict[str, str] | None:
    """Return the settings of this process's active Spark context, or None."""
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
    """Return whether the JVM finds a class, in its own jars or in those given to spark-submit."""
    from py4j.protocol import Py4JJavaError

    jvm = _running_jvm()
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(name)
    except Py4JJavaError:
        return False
    return True


@contextmanager
def typed_errors(doing: str, *, connect: bool = False) -> Iterator[None]:
    """Turn Java errors that PySpark doesn't convert into typed ones.

    Delta's conflicts become ``delta.exceptions``: importing a Delta module, a different one for
    Spark Connect, registers the conversion. Any error without a PySpark type becomes a
    ``ZCubeError`` with the first line of Java's message, and the Java error as its cause.
    """
    # Imported by full name, because Delta 4.3's package, unlike 4.4's, doesn't import them itself.
    with suppress(ImportError):
        import_module("delta.connect.exceptions" if connect else "delta.exceptions.captured")
    try:
        yield
    except Exception as error:
        # Checked by name, because py4j may not be installed over Spark Connect.
        if type(error).__name__ != "Py4JJavaError":
            raise
        raise ZCubeError(f"{doing} failed in Spark: {first_line(error)}") from error


def logged_files(rows: DataFrame, table: str) -> tuple[DataFrame, StructType, list[str]]:
    """Return the add actions of the Delta table that a DataFrame reads, from Delta's snapshot.

    Args:
        rows: of the table.
        table: its name, for errors.

    Returns:
        The actions, with ``stats`` as a struct; the table's schema, with the physical names of
        columns; the physical names of the partition columns.

    Raises:
        ZCubeError: the DataFrame doesn't read exactly one Delta table.
    """
    from py4j.protocol import Py4JError
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    try:
        if leaves.size() != 1:
            raise ZCubeError(f"{table} is a view over several tables, which has no files.")
        snapshot = leaves.apply(0).relation().location().getSnapshot()
        actions = DataFrame(snapshot.withStats(), rows.sparkSession)
        partitions = snapshot.metadata().physicalPartitionSchema().fieldNames()
    except Py4JError as error:
        raise ZCubeError(f"{table} is not a Delta table, so it has no Delta log.") from error
    schema = StructType.fromJson(json.loads(str(snapshot.schema().json())))
    return actions, schema, list(partitions)


def uncached_files(rows: DataFrame) -> list[str]:
    """Return the files that a DataFrame would read if nothing were cached."""
    of = rows._jdf
    jvm: Any = _running_jvm()
    plan = jvm.org.apache.spark.sql.zcube.Sessions.optimizedUncached(
        of.sparkSession(), of.queryExecution().analyzed()
    )
    return list(
        jvm.org.apache.spark.sql.classic.Dataset.ofRows(of.sparkSession(), plan).inputFiles()
    )


def open_event_log(path: Path) -> BinaryIO:
    """Open an event log that Spark has compressed, with any codec, complete or in progress."""
    jvm = _running_jvm()
    # As text, a Hadoop path isn't escaped.
    hadoop_path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(path.resolve().as_uri()))
    reader = jvm.org.apache.spark.deploy.history.EventLogFileReader
    with typed_errors(f"Opening {path}"):
        files = hadoop_path.getFileSystem(jvm.org.apache.hadoop.conf.Configuration())
        stream = reader.openEventLog(hadoop_path, files)
    return io.BufferedReader(_JavaStream(stream))


class _JavaStream(io.RawIOBase):
    """A Java InputStream as a raw Python stream.

    Readers of text ask for 8 KiB at a time, and a call of Java takes long, however few bytes it
    returns: 50 ms on two cores, where 1 MiB took 100.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._piece = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._piece:
            self._piece = memoryview(self._stream.readNBytes(1 << 20))
        size = min(len(buffer), len(self._piece))
        buffer[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


@contextmanager
def stoppable(spark: SparkSession) -> Iterator[str]:
    """Let Ctrl-C stop the Spark jobs that the block starts, including those that Java starts later.

    PySpark's own Ctrl-C handler tries to cancel jobs. But the connection to Java is busy with the
    interrupted call, so nothing is cancelled and Java continues.

    Returns: The tag of these jobs.
    """
    context, tag = spark.sparkContext, f"zcube-{uuid.uuid4()}"
    if context._jsc is None:  # it is stopped, as whatever the block runs will say
        yield tag
        return
    # Spark can cancel future jobs only by group; a group that the caller has set is kept.
    grouped = context.getLocalProperty(_JOB_GROUP) is None
    context.addJobTag(tag)
    if grouped:
        context.setLocalProperty(_JOB_GROUP, tag)
    try:
        yield tag
    except KeyboardInterrupt:
        # If Java is gone, nothing is left to cancel, and the user must see what was raised here.
        if grouped:
            with suppress(Exception):
                context._jsc.sc().cancelJobGroupAndFutureJobs(tag)
        with suppress(Exception):
            context.cancelJobsWithTag(tag)
        raise
    finally:
        try:
            # First: with a group that is cancelled, this thread could run no more jobs.
            if grouped:
                with suppress(Exception):
                    context._jsc.setLocalProperty(_JOB_GROUP, None)
        finally:
            with suppress(Exception):
                context.removeJobTag(tag)


RewriteProgress = Callable[[], tuple[int, float, int]]
"""Returns how many cubes the run writes, 0 while unknown; how many of them are written, where one
in progress counts with its fraction; bytes of the files rewritten so far."""


@contextmanager
def rewrite_progress(spark: SparkSession, tag: str) -> Iterator[RewriteProgress]:
    """Follow the OPTIMIZE whose jobs have a tag, until the end of the block."""
    context = spark.sparkContext._jsc.sc()
    progress = _running_jvm().org.apache.spark.sql.zcube.RewriteProgress(context, tag)

    def current() -> tuple[int, float, int]:
        now = progress.current()
        return now.cubes(), now.done(), now.bytes()

    try:
        yield current
    finally:
        with suppress(Exception):
            progress.close()
