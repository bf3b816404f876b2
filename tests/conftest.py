"""One Spark session for all tests, built by ``zcube.configure`` itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest
import zcube
from pyspark.sql import SparkSession
from support.jobs import JobCounter

# Another Spark on the machine must not lend its home or its settings to the tests.
for variable in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "MASTER"):
    os.environ.pop(variable, None)


class DeltaOnly(Protocol):
    """``with delta_only(): …`` runs Delta's own OPTIMIZE."""

    def __call__(self) -> AbstractContextManager[None]: ...


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The shared classic session. A test that changes a setting must set it back."""
    scratch = tmp_path_factory.mktemp("spark")
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("zcube tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={scratch / 'derby'}")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.databricks.delta.snapshotPartitions", "2")
    )
    session = zcube.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def tmp_table_path(tmp_path: Path) -> str:
    """A folder for a Delta table that does not exist yet."""
    return str(tmp_path / "table")


@pytest.fixture
def delta_only(spark: SparkSession) -> DeltaOnly:
    """Gives Delta's own command back for a while."""

    @contextmanager
    def switched_off() -> Iterator[None]:
        spark.conf.set("spark.zcube.enabled", "false")
        try:
            yield
        finally:
            spark.conf.unset("spark.zcube.enabled")

    return switched_off


@pytest.fixture
def job_counter(spark: SparkSession) -> JobCounter:
    """``with job_counter() as jobs: …`` lists the Spark jobs of the block."""
    return JobCounter(spark)
