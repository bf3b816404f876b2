"""One Spark session for all tests, built as a user builds it."""

import contextlib
import itertools
import os
import shutil

import pytest
import zcube
from hypothesis import settings
from pyspark.sql import SparkSession

from tests.support import class_archive, class_lookups, test_jar
from tests.support.failure_points import FailurePoints
from tests.support.job_counter import JobCounter

# Another Spark installation on the machine must not affect the tests.
for variable in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "MASTER"):
    os.environ.pop(variable, None)
class_archive.use()
class_lookups.remember()

# The same examples each time, and no time limits.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    # The number of partitions in VACUUM, 10,000 by default.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    # A stack trace for each function of a DataFrame.
    "spark.sql.dataFrameQueryContext.enabled": "false",
    "spark.driver.memory": "2g",
    # The tests use the same few thousand plans repeatedly. With Spark's 100, more than half of the
    # tasks' time went into compiling code that had been compiled before.
    "spark.sql.codegen.cache.maxEntries": "5000",
    # Each task of Delta's log replay writes the code of its wide projections anew, to find it in that
    # cache: a fifth of the tests' time. Stages aren't compiled either; ``spark-submit`` and the demo
    # compile them, and the Scala suites hold each of ZCube's expressions, interpreted, against its
    # generated code.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
}

# A stack trace for each job and each of its RDDs.
CALL_SITE = {"callSite.short": "a test", "callSite.long": "a test"}

if os.environ.get("ZCUBE_TESTS") != "all":
    # One task reads a table of a few small files, above all Delta's log. By day and by night the
    # Scala suites read with several.
    SETTINGS["spark.sql.files.minPartitionNum"] = "1"

JAVA_OPTIONS = [
    # Many small queries: time goes into compiling bytecode. Over many minutes the slow compiler saves
    # more than it takes, if it only gets the methods that are called most; see also build.sbt.
    "-XX:TieredStopAtLevel=4",
    "-XX:Tier4InvocationThreshold=30000",
    "-XX:Tier4MinInvocationThreshold=10000",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=200000",
    "-XX:ReservedCodeCacheSize=600m",
    # With two cores, there is none to spare for concurrent marking.
    "-XX:+UseParallelGC",
    "-Duser.timezone=UTC",
]


def pytest_collection_modifyitems(config, items):
    """Mark tests that need the session, so that ``-m "not spark"`` runs the rest quickly.

    Deselect long cases unless ``ZCUBE_TESTS=all``.
    """
    if os.environ.get("ZCUBE_TESTS") != "all":
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    for item in items:
        if "spark" in item.fixturenames:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    home = tmp_path_factory.mktemp("spark")
    os.environ["ZCUBE_FAILURE_POINTS"] = str(tmp_path_factory.mktemp("failure-points"))
    builder = SparkSession.builder.master("local[2]").appName("zcube tests")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", str(home / "warehouse"))
    # A Delta version other than zcube.configure's: io.delta:delta-spark_2.13:4.0.1.
    if delta := os.environ.get("ZCUBE_TEST_DELTA"):
        builder = builder.config("spark.jars.packages", delta)
    java_options = [*JAVA_OPTIONS, f"-Dderby.system.home={home / 'derby'}"]
    builder = builder.config("spark.driver.extraJavaOptions", " ".join(java_options))
    # A log store that can lose a response; it can't be set in a running session.
    for key, value in test_jar.settings().items():
        builder = builder.config(key, value)
    session = zcube.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    test_jar.use_local_files(session)
    for form, text in CALL_SITE.items():
        session.sparkContext.setLocalProperty(form, text)
    # Delta changes a setting when the first query is analyzed, which isn't caused by a test.
    session.sql("SELECT 1").collect()
    yield session
    session.stop()


# The session's settings, and their text.
_settings = {}


@pytest.fixture(autouse=True)
def _settings_as_before(request):
    """Restore settings that a test changed."""
    if "spark" not in request.fixturenames:
        yield
        return
    session = request.getfixturevalue("spark")
    # One call of the JVM; a dictionary of them takes hundreds.
    told = session.conf._jconf.getAllAsJava().toString()
    if told != _settings.get("told"):
        _settings.update(told=told, all=session.conf.getAll)
    before = _settings["all"]
    yield
    if session.conf._jconf.getAllAsJava().toString() == told:
        return
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


@pytest.fixture
def delta_only(spark):
    """``with delta_only(): …`` restores Delta's own OPTIMIZE in the block."""

    @contextlib.contextmanager
    def switched_off():
        spark.conf.set("spark.zcube.enabled", "false")
        try:
            yield
        finally:
            spark.conf.unset("spark.zcube.enabled")

    return switched_off


@pytest.fixture
def failure_points(spark):
    """Points where a run in this process can be stopped."""
    points = FailurePoints(os.environ["ZCUBE_FAILURE_POINTS"])
    yield points
    points.clear()


@pytest.fixture
def job_counter(spark):
    """``with job_counter() as jobs: …`` lists the Spark jobs of the block, with what they read."""
    return JobCounter(spark)


@pytest.fixture
def in_this_session(spark, monkeypatch):
    """Let commands run in the tests' session, which must not be stopped."""
    monkeypatch.setattr(spark, "stop", lambda: None)
    monkeypatch.setattr("zcube.session.configure", lambda builder: builder)
