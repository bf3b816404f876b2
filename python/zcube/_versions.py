"""Which Spark and Delta this ZCube works with, and which are installed."""

from __future__ import annotations

import re
from importlib import metadata

from zcube.errors import ZCubeError

SPARK_LINES = ("4.0", "4.1", "4.2")
DELTA_LINES = ("4.3", "4.4")

_DELTA_FOR_SPARK = {"4.0": "4.3", "4.1": "4.3", "4.2": "4.4"}


def spark_line(version: str | None = None) -> str:
    """Return the line of the installed PySpark, e.g. ``4.2``.

    Raises:
        ZCubeError: ZCube has no jar for it.
    """
    if version is None:
        import pyspark

        version = pyspark.__version__
    line = _line(version)
    if line not in SPARK_LINES:
        raise ZCubeError(
            f"PySpark {version} is not supported. ZCube works with PySpark {', '.join(SPARK_LINES)}: "
            f"pip install 'pyspark=={SPARK_LINES[-1]}.*'."
        )
    return line


def delta_version(line: str, version: str | None = None) -> str:
    """Return the Delta release to use with that Spark line: the installed delta-spark's.

    Raises:
        ZCubeError: no delta-spark is installed, or one that ZCube's jar was not built for.
    """
    if version is None:
        try:
            version = metadata.version("delta-spark")
        except metadata.PackageNotFoundError:
            raise ZCubeError("delta-spark is not installed: pip install delta-spark.") from None
    if _line(version) not in DELTA_LINES:
        raise ZCubeError(
            f"delta-spark {version} is not supported. With PySpark {line} ZCube works with "
            f"delta-spark {_DELTA_FOR_SPARK[line]}: "
            f"pip install 'delta-spark=={_DELTA_FOR_SPARK[line]}.*'."
        )
    if _line(version) != _DELTA_FOR_SPARK[line]:
        return {"4.3": "4.3.1", "4.4": "4.4.0"}[_DELTA_FOR_SPARK[line]]
    return version


def _line(version: str) -> str:
    match = re.match(r"(\d+)\.(\d+)", version)
    return f"{match[1]}.{match[2]}" if match else version
