"""Finds ZCube's jar in the wheel, or in a source checkout where sbt has built it."""

from __future__ import annotations

from pathlib import Path

from zcube._version import __version__
from zcube.errors import ZCubeError


def jar_path(line: str) -> Path:
    """Return the jar for a Spark line.

    Raises:
        ZCubeError: it is in neither place.
    """
    package = Path(__file__).resolve().parents[1]
    name = f"zcube-spark_{line}_2.13-{__version__}.jar"
    checkout = package.parent.parent / "jvm/delta/target" / f"spark-{line}" / "scala-2.13" / name
    # A checkout's build is newer than jars that were copied for a wheel.
    for candidate in (checkout, package / "jars" / name):
        if candidate.is_file():
            return candidate
    raise ZCubeError(
        f"{name} is missing. Install ZCube from its wheel, or build the jar in the checkout: "
        "make jar."
    )
