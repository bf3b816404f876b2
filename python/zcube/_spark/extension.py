"""Checks that a session has ZCube's extension; uses SQL, so it works over Connect too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zcube._sql.quoting import switch
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def require(spark: SparkSession) -> None:
    """Check that ZCube's functions are registered.

    Without the extension, Spark would silently ignore ZCube's hint and return unclustered rows.

    Raises:
        ZCubeError: the session, or the Connect server, lacks the extension.
    """
    if not spark.catalog.functionExists("interleave_bits"):
        raise ZCubeError(
            "This session has no ZCube extension. Build it with "
            "zcube.configure(SparkSession.builder).getOrCreate(), or start the server with ZCube's "
            "jar and spark.sql.extensions=io.zcube.sql.ZCubeSparkSessionExtension."
        )


def require_hints(spark: SparkSession) -> None:
    """Check that Spark doesn't ignore hints, and return unclustered rows.

    Raises:
        ZCubeError: it does.
    """
    setting = "spark.sql.optimizer.disableHints"
    if switch(spark, setting, default=False):
        raise ZCubeError(
            f"zcube.cluster needs hints, and {setting}=true makes Spark ignore them. Unset it."
        )
