"""The settings that Spark will be launched with, apart from the builder's options."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from zcube.errors import ZCubeError

_FLAGS = {"--jars": "spark.jars", "--packages": "spark.jars.packages"}
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"


def default_settings() -> dict[str, str]:
    """Read the file that spark-submit will read: ``--properties-file``, or spark-defaults.conf.

    Raises:
        ZCubeError: it can't be read.
    """
    arguments = list(_arguments())
    named = [value for flag, value in arguments if flag == "--properties-file"]
    given = _read(Path(named[-1])) if named else {}
    # Spark 4 can read both.
    if named and not any(flag == "--load-spark-defaults" for flag, _ in arguments):
        return given
    folder = os.environ.get("SPARK_CONF_DIR")
    if folder is None:
        from pyspark.find_spark_home import _find_spark_home

        folder = str(Path(_find_spark_home()) / "conf")
    file = Path(folder) / "spark-defaults.conf"
    return (_read(file) if file.is_file() else {}) | given


def _read(file: Path) -> dict[str, str]:
    try:
        return parse_properties(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ZCubeError(f"Spark's settings in {file} can't be read: {error}.") from error


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
    """Return what PYSPARK_SUBMIT_ARGS sets with ``--conf``, ``--jars`` and ``--packages``.

    Raises:
        ZCubeError: it isn't what a shell accepts.
    """
    settings: dict[str, str] = {}
    for flag, value in _arguments():
        if flag in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            settings[key] = setting
    # In spark-submit, flags override the equivalent settings.
    for flag, value in _arguments():
        if flag in _FLAGS:
            settings[_FLAGS[flag]] = value
    return settings


def _arguments() -> Iterator[tuple[str, str]]:
    """Yield each flag of PYSPARK_SUBMIT_ARGS with its value: ``--x y`` or ``--x=y``."""
    try:
        words = shlex.split(os.environ.get(_ARGUMENTS, ""))
    except ValueError as error:
        raise ZCubeError(f"{_ARGUMENTS} can't be read: {error}.") from error
    for flag, value in pairwise([*words, ""]):
        name, equals, rest = flag.partition("=")
        yield (name, rest) if equals and name.startswith("--") else (flag, value)
