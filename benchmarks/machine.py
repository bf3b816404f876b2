"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pyspark
import zcube


def machine() -> dict[str, str]:
    """The processor, and the versions."""
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {
        "cpu": cpu,
        "cores": str(len(os.sched_getaffinity(0))),
        "python": platform.python_version(),
        "spark": pyspark.__version__,
        "delta": "4.4.0",
        "zcube": zcube.__version__,
    }
