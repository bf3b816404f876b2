"""The jar of the Scala tests, with JVM classes that the Python tests need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from zcube._spark import versions
from zcube._spark.jar import jar_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MISSING = "The jar of the tests is missing. Build it: sbt delta/Test/package, or make test-python."


def path() -> Path:
    """The jar, which may be missing."""
    jar = jar_path(versions.spark_line())
    return jar.with_name(f"{jar.stem}-tests.jar")


def use_local_files(session: SparkSession) -> None:
    """Let Java instead of processes read and set permissions and links: a tenth of the time.

    When Spark looks for its jars, with Hadoop's file system, the test jar isn't loaded yet. So the
    running session is changed. In ``LocalFiles.scala`` the Scala suites have the same.
    """
    if not path().is_file():
        return
    hadoop = session._jsc.hadoopConfiguration()
    hadoop.set("fs.file.impl", "io.zcube.testing.LocalFiles")
    hadoop.set("fs.AbstractFileSystem.file.impl", "io.zcube.testing.LocalFiles$OfContext")
    session._jvm.org.apache.hadoop.fs.FileSystem.closeAll()


def settings() -> dict[str, str]:
    """Settings that add it to a session's class path, with its log store; empty if it isn't built."""
    jar, tests = jar_path(versions.spark_line()), path()
    if not tests.is_file():
        return {}
    return {
        # Both jars: if a ZCube jar is given, zcube.configure adds no other.
        "spark.jars": f"{jar},{tests}",
        "spark.delta.logStore.file.impl": "io.zcube.testing.LostAnswerLogStore",
    }
