"""The jar of the Scala tests, for what Python's tests need to have in the JVM."""

from __future__ import annotations

from pathlib import Path

from zcube._spark import versions
from zcube._spark.jar import jar_path

MISSING = "The jar of the tests is missing. Build it: sbt delta/Test/package, or make test-python."


def path() -> Path:
    """The jar, which may be missing."""
    jar = jar_path(versions.spark_line())
    return jar.with_name(f"{jar.stem}-tests.jar")


def settings() -> dict[str, str]:
    """What puts it on a session's class path, with the log store of it; nothing if it wasn't built."""
    jar, tests = jar_path(versions.spark_line()), path()
    if not tests.is_file():
        return {}
    return {
        # Both: whoever names a jar of ZCube gets no other one from zcube.configure.
        "spark.jars": f"{jar},{tests}",
        "spark.delta.logStore.file.impl": "io.zcube.testing.LostAnswerLogStore",
    }
