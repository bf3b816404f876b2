"""Builds Spark sessions with ZCube and Delta."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import SparkSession

from zcube import _defaults
from zcube._jar import jar_path
from zcube._versions import delta_version, spark_line

_DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
_ZCUBE_EXTENSION = "io.zcube.sql.ZCubeSparkSessionExtension"
_CATALOG = "spark.sql.catalog.spark_catalog"
_DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add ZCube and Delta to a session builder.

    What the builder or ``spark-defaults.conf`` sets already is kept: extensions, jars and packages
    are added to, another session catalog stays. Calling it twice changes nothing. A builder with
    ``remote`` is returned as it is: over Spark Connect the server has the jar.

    >>> spark = zcube.configure(SparkSession.builder.appName("app")).getOrCreate()  # doctest: +SKIP

    Raises:
        ZCubeError: the installed PySpark or delta-spark is not supported, or the jar is missing.
    """
    options: Mapping[str, str] = builder._options  # type: ignore[attr-defined]
    if "spark.remote" in options:
        return builder
    line = spark_line()
    jar = str(jar_path(line))
    defaults = _defaults.load()

    def existing(key: str) -> list[str]:
        value = options.get(key)
        if value is None:
            value = defaults.get(key)
        return [part.strip() for part in (value or "").split(",") if part.strip()]

    def add(key: str, *values: str) -> None:
        merged = existing(key)
        merged += [value for value in values if value not in merged]
        builder.config(key, ",".join(merged))

    if not any("zcube-spark_" in path for path in existing("spark.jars")):
        add("spark.jars", jar)
    on_path = existing("spark.jars") + existing("spark.jars.packages")
    if not any("delta-spark_" in entry for entry in on_path):
        add("spark.jars.packages", f"io.delta:delta-spark_{line}_2.13:{delta_version(line)}")
    add("spark.sql.extensions", _DELTA_EXTENSION, _ZCUBE_EXTENSION)
    if not existing(_CATALOG):
        builder.config(_CATALOG, _DELTA_CATALOG)
    return builder
