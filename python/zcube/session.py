"""Builds Spark sessions with ZCube and Delta."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from zcube._spark import connect, gateway, launch
from zcube._spark.jar import jar_path
from zcube._spark.versions import check_delta_jar, delta_version, spark_line
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
ZCUBE_EXTENSION = "io.zcube.sql.ZCubeSparkSessionExtension"
CATALOG = "spark.sql.catalog.spark_catalog"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
EXTENSIONS = "spark.sql.extensions"
JARS = "spark.jars"
PACKAGES = "spark.jars.packages"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add ZCube and Delta to a session builder.

    Existing settings in the builder, ``spark-defaults.conf`` or ``PYSPARK_SUBMIT_ARGS`` are kept:
    extensions, jars and packages are appended to, and another session catalog stays. Calling it
    twice changes nothing. A builder with ``remote("sc://…")`` is returned unchanged: over Spark
    Connect the server has the jar.

    Under ``spark-submit``, Java is already running, so only the settings are added; pass the jars
    to spark-submit with ``--jars`` or ``--packages``.

    Examples:
        >>> spark = zcube.configure(SparkSession.builder).getOrCreate()  # doctest: +SKIP

    Raises:
        ZCubeError: the installed PySpark or delta-spark is not supported, the settings name a Delta
            jar that isn't, the jar is missing, or a session or JVM without ZCube is already
            running.
    """
    options: Mapping[str, str] = builder._options
    if connect.names_server(options):
        return builder
    line = spark_line()
    if gateway.jvm_runs():
        _require_on_class_path(line)
        _require_in_session()
        added = extension_settings({**gateway.jvm_settings(), **options})
    else:
        submitted = launch.submit_settings()
        _require_in_submit_arguments(submitted, line)
        given = {**launch.default_settings(), **submitted, **options}
        check_delta(given, line)
        added = jar_settings(given, lambda: str(jar_path(line)), lambda: _delta_package(line))
        added |= extension_settings(given)
    for key, value in added.items():
        builder.config(key, value)
    return builder


def jar_settings(
    given: Mapping[str, str], jar: Callable[[], str], delta: Callable[[], str]
) -> dict[str, str]:
    """Return the settings that add the jars of ZCube and Delta, where ``given`` lacks them."""
    added: dict[str, str] = {}
    if not _mentions(given, "zcube-spark_"):
        added[JARS] = _with(given, JARS, jar())
    if not _mentions(given, "delta-spark_"):
        added[PACKAGES] = _with(given, PACKAGES, delta())
    return added


def extension_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that enable both extensions, where ``given`` lacks them."""
    added: dict[str, str] = {}
    extensions = _with(given, EXTENSIONS, DELTA_EXTENSION, ZCUBE_EXTENSION)
    if extensions != given.get(EXTENSIONS):
        added[EXTENSIONS] = extensions
    if not given.get(CATALOG):
        added[CATALOG] = DELTA_CATALOG
    return added


def check_delta(given: Mapping[str, str], line: str) -> None:
    """Check that Delta's jar, where ``given`` has one, is of a release that ZCube's jar takes.

    Raises:
        ZCubeError: it isn't.
    """
    for entry in [*_entries(given, PACKAGES), *_entries(given, JARS)]:
        named = re.search(r"(?:^|[:/])delta-spark_[\d._]*[:-](\d+\.\d+)[^/]*$", entry)
        if named:
            check_delta_jar(line, named[1], entry)


def _delta_package(line: str) -> str:
    return f"io.delta:delta-spark_{line}_2.13:{delta_version(line)}"


def _entries(given: Mapping[str, str], key: str) -> list[str]:
    return [entry.strip() for entry in (given.get(key) or "").split(",") if entry.strip()]


def _with(given: Mapping[str, str], key: str, *values: str) -> str:
    entries = _entries(given, key)
    return ",".join(entries + [value for value in values if value not in entries])


def _mentions(given: Mapping[str, str], artifact: str) -> bool:
    """Return whether a jar's file, or a package, has this name; folders don't count."""
    files = [entry.rsplit("/", 1)[-1] for entry in _entries(given, JARS)]
    packages = [part for entry in _entries(given, PACKAGES) for part in entry.split(":")[1:2]]
    return any(artifact in name for name in files + packages)


def _require_in_submit_arguments(submitted: Mapping[str, str], line: str) -> None:
    """Reject a PYSPARK_SUBMIT_ARGS that would override the builder and omit the jars."""
    for key, artifact in ((JARS, "zcube-spark_"), (PACKAGES, "delta-spark_")):
        if key in submitted and not _mentions(submitted, artifact):
            entry = str(jar_path(line)) if key == JARS else _delta_package(line)
            raise ZCubeError(
                f"PYSPARK_SUBMIT_ARGS sets {key}, which overrides the builder's. Add "
                f"{entry} there, or move the setting from PYSPARK_SUBMIT_ARGS to the builder."
            )


def _require_on_class_path(line: str) -> None:
    missing = []
    if not gateway.has_class(ZCUBE_EXTENSION):
        missing.append(f"--jars {jar_path(line)}")
    if not gateway.has_class(DELTA_EXTENSION):
        missing.append(f"--packages {_delta_package(line)}")
    if missing:
        raise ZCubeError(
            "Spark's Java process is already running, and its class path can't be extended. Under "
            f"spark-submit, pass {' '.join(missing)}; otherwise restart Python and call "
            "zcube.configure before the first Spark session."
        )


def _require_in_session() -> None:
    settings = gateway.session_settings()
    if settings is not None and ZCUBE_EXTENSION not in _entries(settings, EXTENSIONS):
        raise ZCubeError(
            "A Spark session without ZCube is already running, and getOrCreate would return it. "
            f"Stop it with spark.stop() first, or start it with {EXTENSIONS}={ZCUBE_EXTENSION}."
        )
