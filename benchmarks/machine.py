"""Describes the machine of a benchmark run."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import pyspark
import zcube


def processor() -> str:
    """The processor's model name, if the system provides it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def machine() -> dict[str, str]:
    """The processor, and the versions."""
    return {
        "cpu": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "delta": version("delta-spark"),
        "zcube": zcube.__version__,
    }
