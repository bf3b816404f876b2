"""Settings that Spark takes from outside the program: spark-submit, spark-defaults.conf."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path


def load() -> Mapping[str, str]:
    """Return the settings that a new session starts from.

    A JVM that is there already, as under spark-submit, is asked. None is started for that: its class
    path would be fixed before ZCube's jar is on it. Then spark-defaults.conf is read instead.
    """
    if _jvm_is_at_hand():
        from pyspark import SparkConf

        return dict(SparkConf(loadDefaults=True).getAll())
    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(os.environ.get("SPARK_HOME", ""), "conf")
    file = Path(folder) / "spark-defaults.conf"
    return _parse(file.read_text()) if file.is_file() else {}


def _jvm_is_at_hand() -> bool:
    from pyspark import SparkContext

    return SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def _parse(text: str) -> dict[str, str]:
    """Read lines of a key, white space or ``=`` or ``:``, and a value, as java.util.Properties does."""
    lines = (line.strip() for line in text.splitlines())
    found = (
        re.match(r"([^\s=:]+)\s*[=:\s]\s*(.*)", line) for line in lines if line and line[0] not in "#!"
    )
    return {match[1]: match[2] for match in found if match}
