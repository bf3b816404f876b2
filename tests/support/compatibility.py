"""What ran where: outcomes that tests record, and the page made of them.

``ZCUBE_COMPATIBILITY=record`` makes the tests write their outcomes to `tests/results/compatibility.jsonl`. Otherwise
they must agree with it. ``python -m tests.support.compatibility`` makes `docs/compatibility.md`.
"""

from __future__ import annotations

import json
import os
import platform
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests/results/compatibility.jsonl"
PAGE = ROOT / "docs/compatibility.md"


def recording() -> bool:
    return os.environ.get("ZCUBE_COMPATIBILITY") == "record"


def check(spark: str, feature: str, outcome: str) -> None:
    """Record a feature's outcome with a Spark version, or hold it against the recorded one."""
    if recording():
        _append({"feature": feature, "spark": spark, "outcome": outcome})
    else:
        assert outcome == results()[0].get((feature, spark)), (
            "another outcome than docs/compatibility.md shows: ZCUBE_COMPATIBILITY=record"
        )


def record_run(passed: int, failed: int, files: list[str]) -> None:
    """Record a run of tests."""
    _append(
        {
            "spark": version("pyspark"),
            "delta": version("delta-spark"),
            "java": _java(),
            "python": platform.python_version(),
            "passed": passed,
            "failed": failed,
            "files": files,
        }
    )


def results() -> tuple[dict[tuple[str, str], str], list[dict[str, Any]]]:
    """The newest outcome of each feature and Spark version, and all runs."""
    features, runs = {}, []
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "feature" in entry:
            features[entry["feature"], entry["spark"]] = entry["outcome"]
        else:
            runs.append(entry)
    return features, runs


def _append(entry: dict[str, Any]) -> None:
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _java() -> str:
    release = (Path(os.environ["JAVA_HOME"]) / "release").read_text(encoding="utf-8")
    return re.search(r'^JAVA_VERSION="(.*)"', release, re.MULTILINE)[1]
