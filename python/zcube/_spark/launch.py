"""The settings that Spark will be launched with, apart from the builder's options."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

_FLAGS = {"--jars": "spark.jars", "--packages": "spark.jars.packages"}


def is_remote(options: Mapping[str, str]) -> bool:
    """Return whether the session will be a client of a remote Spark Connect server.

    With ``remote("local[2]")`` it isn't: PySpark then starts the server itself, with these options.
    """
    url = options.get("spark.remote") or os.environ.get("SPARK_REMOTE") or ""
    return url.startswith("sc://")


def default_settings() -> dict[str, str]:
    """Read spark-defaults.conf from where spark-submit will look for it; empty if there is none."""
    folder = os.environ.get("SPARK_CONF_DIR")
    if folder is None:
        from pyspark.find_spark_home import _find_spark_home

        folder = str(Path(_find_spark_home()) / "conf")
    file = Path(folder) / "spark-defaults.conf"
    return parse_properties(file.read_text(encoding="utf-8")) if file.is_file() else {}


def parse_properties(text: str) -> dict[str, str]:
    r"""Read lines of ``key value``, ``key=value`` or ``key: value``; ``#`` and ``!`` are comments.

    >>> parse_properties("spark.jars  /a.jar\n# no\nspark.sql.extensions=A,B")
    {'spark.jars': '/a.jar', 'spark.sql.extensions': 'A,B'}
    """
    settings: dict[str, str] = {}
    for line in text.replace("\\\n", "").splitlines():
        match = re.match(r"\s*([^\s#!=:][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$", line)
        if match:
            settings[match[1]] = match[2]
    return settings


def submit_settings() -> dict[str, str]:
    """Return what PYSPARK_SUBMIT_ARGS sets with ``--conf``, ``--jars`` and ``--packages``."""
    settings: dict[str, str] = {}
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for flag, value in pairwise(words):
        if flag in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            settings[key] = setting
    # In spark-submit, flags override the equivalent settings.
    for flag, value in pairwise(words):
        if flag in _FLAGS:
            settings[_FLAGS[flag]] = value
    return settings
