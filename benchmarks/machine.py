"""Describes the machine of a benchmark run."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

import pyspark
import zcube
from pyspark import SparkContext


def processor() -> str:
    """The processor's model name, if the system provides it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def commit() -> str:
    """The commit that runs, and whether the sources differ from it."""
    hash_ = _git("rev-parse", "--short", "HEAD")
    if hash_ is None:
        return "unknown"
    # What benchmarks write doesn't count.
    written = [f":(exclude){path}" for path in ("benchmarks/results", "docs")]
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
    return f"{hash_} with changes" if changed else hash_


def java() -> str:
    """The version of Spark's JVM, or of the one that Spark would start."""
    # Set from the first session of this process on.
    if SparkContext._jvm is not None:
        return str(SparkContext._jvm.java.lang.System.getProperty("java.version"))
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else "java"
    shown = _output([program, "-XshowSettings:properties", "-version"])
    lines = [line.partition(" = ") for line in (shown or "").splitlines()]
    return next((value for key, _, value in lines if key.strip() == "java.version"), "unknown")


def machine() -> dict[str, str]:
    """The processor, the versions, and the day."""
    return {
        "cpu": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "delta": version("delta-spark"),
        "zcube": zcube.__version__,
        "commit": commit(),
        "date": datetime.now(timezone.utc).date().isoformat(),
        "java": java(),
    }


def _git(*arguments: str) -> str | None:
    return _output(["git", "-C", str(Path(__file__).parent.parent), *arguments])


def _output(command: list[str]) -> str | None:
    """What a program prints, without the last line's end; None if it fails or isn't there."""
    try:
        ran = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout.rstrip("\n")
