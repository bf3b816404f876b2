"""One Spark session for all tests, built as a user builds it."""

import itertools
import shutil

import pytest
from pyspark.sql import SparkSession

import zcube

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    home = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.master("local[2]").appName("zcube tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", str(home / "warehouse"))
    session = zcube.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _settings_as_before(request):
    """Put settings that a test changed back."""
    if "spark" not in request.fixturenames:
        yield
        return
    session = request.getfixturevalue("spark")
    before = session.conf.getAll
    yield
    after = session.conf.getAll
    for key in after.keys() - before.keys():
        session.conf.unset(key)
    for key, value in before.items():
        if after.get(key) != value:
            session.conf.set(key, value)


_numbers = itertools.count()


@pytest.fixture
def path(tmp_path):
    """A folder for a table."""
    folder = tmp_path / "table"
    yield str(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def name(spark):
    """A name for a table, dropped afterwards."""
    table = f"t{next(_numbers)}"
    yield table
    spark.sql(f"DROP TABLE IF EXISTS {table}")
