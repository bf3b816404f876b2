"""The Spark and Delta versions that are supported, and those that are installed."""

from __future__ import annotations

import re
from importlib import metadata

from zcube.errors import ZCubeError

SPARK_LINES = ("4.0", "4.1", "4.2")
DELTA_LINES = ("4.3", "4.4")

_DELTA_RELEASES = {"4.3": "4.3.1", "4.4": "4.4.0"}
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
            f"PySpark {version} is not supported. ZCube works with PySpark "
            f"{', '.join(SPARK_LINES)}: pip install 'pyspark=={SPARK_LINES[-1]}.*'."
        )
    return line


def delta_version(line: str, version: str | None = None) -> str:
    """Return the Delta release whose jar fits the Spark line.

    Raises:
        ZCubeError: delta-spark is not installed, or in a version that ZCube's jar was not built
            for.
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
    # Not the installed one: PyPI may have a patch release whose jar isn't published.
    return _DELTA_RELEASES[_DELTA_FOR_SPARK[line]]


def check_delta_jar(line: str, version: str, name: str) -> None:
    """Check that the jar for a Spark line takes a release of Delta's jar.

    Raises:
        ZCubeError: it doesn't, so a session with this jar wouldn't start.
    """
    wanted = _DELTA_FOR_SPARK[line]
    if _line(version) != wanted:
        raise ZCubeError(
            f"The settings have {name}, but with PySpark {line} ZCube works with Delta {wanted}. "
            "Leave it out, because zcube.configure adds Delta; or, if it is from delta's "
            f"configure_spark_with_delta_pip, pip install 'delta-spark=={wanted}.*'."
        )


def package_mismatch(line: str) -> str:
    """Return what is wrong with an installed delta-spark that is for another Spark line, or ``""``.

    ``zcube.configure`` chooses the right jar in any case, but Delta's own functions choose another.
    """
    wanted, version = _DELTA_FOR_SPARK[line], metadata.version("delta-spark")
    if _line(version) == wanted:
        return ""
    return (
        f"With PySpark {line}, ZCube and its sessions have Delta {wanted}: "
        f"pip install 'delta-spark=={wanted}.*'."
    )


def versions() -> dict[str, str]:
    """Return the versions that matter in a bug report: ZCube, PySpark, Delta, and the jar.

    Missing packages and files are described in words; nothing is raised.
    """
    from zcube._spark.jar import jar_path
    from zcube._version import __version__

    found = {"zcube": __version__}
    for package in ("pyspark", "delta-spark"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    try:
        found["jar"] = str(jar_path(spark_line()))
    except (ImportError, ZCubeError) as error:
        found["jar"] = str(error)
    return found


def _line(version: str) -> str:
    match = re.match(r"(\d+)\.(\d+)", version)
    return f"{match[1]}.{match[2]}" if match else version
