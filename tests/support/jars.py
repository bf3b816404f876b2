"""The jars that a session needs, for tests that pass them explicitly."""

from __future__ import annotations

import glob
import os

from zcube._spark import versions
from zcube._spark.jar import jar_path


def of_delta() -> list[str]:
    """Delta's two jars for the installed Spark, as Ivy brought them: see fetch_packages."""
    line = versions.spark_line()
    version = versions.delta_version(line)
    wanted = (f"delta-spark_{line}_2.13-{version}.jar", f"delta-storage-{version}.jar")
    listed = glob.glob(os.path.expanduser("~/.ivy2*/jars/*.jar"))
    return [jar for jar in listed if jar.endswith(wanted)]


def of_session() -> str:
    """The value of ``spark.jars`` with which a session starts without Ivy, in three quarters of the time."""
    return ",".join([str(jar_path(versions.spark_line())), *of_delta()])
