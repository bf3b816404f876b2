"""zcube.configure: what it adds, and what it leaves alone."""

import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

import zcube
from zcube import _defaults, _versions

DELTA = "io.delta.sql.DeltaSparkSessionExtension"
ZCUBE = "io.zcube.sql.ZCubeSparkSessionExtension"


@pytest.fixture(autouse=True)
def _no_running_jvm(monkeypatch, tmp_path):
    """As in a fresh process: the session of the other tests must not be seen."""
    monkeypatch.setattr(_defaults, "_jvm_is_at_hand", lambda: False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))


def configured(**options):
    builder = SparkSession.Builder()
    builder._options = {key.replace("__", "."): value for key, value in options.items()}
    return zcube.configure(builder)._options


def test_an_empty_builder_gets_all_it_needs():
    options = configured()
    assert options["spark.sql.extensions"] == f"{DELTA},{ZCUBE}"
    assert options["spark.jars"].endswith(".jar")
    assert "zcube-spark_4.2_2.13" in options["spark.jars"]
    assert options["spark.jars.packages"] == "io.delta:delta-spark_4.2_2.13:4.4.0"
    assert options["spark.sql.catalog.spark_catalog"].endswith("DeltaCatalog")


def test_what_is_there_is_kept():
    options = configured(
        spark__sql__extensions="a.B",
        spark__jars="/x.jar",
        spark__jars__packages="g:a:1",
        spark__sql__catalog__spark_catalog="c.D",
    )
    assert options["spark.sql.extensions"] == f"a.B,{DELTA},{ZCUBE}"
    assert options["spark.jars"].startswith("/x.jar,")
    assert options["spark.jars.packages"].startswith("g:a:1,")
    assert options["spark.sql.catalog.spark_catalog"] == "c.D"


def test_delta_on_the_builder_is_not_added_again():
    options = configured(spark__jars="/jars/delta-spark_4.2_2.13-4.4.0.jar")
    assert "spark.jars.packages" not in options


def test_spark_defaults_are_added_to(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text(
        "# settings of the cluster\n"
        "spark.sql.extensions   a.B\n"
        "spark.jars=/x.jar\n"
        "spark.jars.packages: io.delta:delta-spark_4.2_2.13:4.4.0\n"
    )
    options = configured()
    assert options["spark.sql.extensions"] == f"a.B,{DELTA},{ZCUBE}"
    assert options["spark.jars"].startswith("/x.jar,")
    assert "spark.jars.packages" not in options


def test_twice_changes_nothing():
    builder = SparkSession.Builder()
    builder._options = {}
    once = dict(zcube.configure(builder)._options)
    assert zcube.configure(builder)._options == once


def test_a_remote_builder_stays_as_it_is():
    options = configured(spark__remote="sc://localhost")
    assert options == {"spark.remote": "sc://localhost"}


@pytest.mark.parametrize("version", ["3.5.1", "4.3.0", "5.0.0"])
def test_an_unsupported_pyspark_is_named(version):
    with pytest.raises(zcube.ZCubeError, match=rf"PySpark {version}.*4\.0, 4\.1, 4\.2"):
        _versions.spark_line(version)


@pytest.mark.parametrize("version", ["3.3.0", "4.5.0"])
def test_an_unsupported_delta_is_named(version):
    with pytest.raises(zcube.ZCubeError, match=rf"delta-spark {version}.*4\.4"):
        _versions.delta_version("4.2", version)


REVERSED = """
import sys, zcube
from pyspark.sql import SparkSession
b = zcube.configure(SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    .config("spark.sql.extensions", "{zcube},{delta}")
    .config("spark.databricks.delta.snapshotPartitions", "2"))
spark = b.getOrCreate()
assert spark.conf.get("spark.sql.extensions") == "{zcube},{delta}"
spark.range(1000).selectExpr("id x", "hash(id) y").repartition(3).write.format("delta").save(sys.argv[1])
spark.sql(f"OPTIMIZE delta.`{{sys.argv[1]}}` ZORDER BY (x, y)")
spark.sql(f"OPTIMIZE delta.`{{sys.argv[1]}}` ZORDER BY (x, y) OPTIONS ('curve' = 'hilbert')")
jobs = spark._jsc.sc().statusStore().jobsList(None)
names = [jobs.apply(i).description() for i in range(jobs.size())]
print(sum(n.isDefined() and "OPTIMIZE by (x, y)" in n.get() for n in names), "jobs of ZCube")
spark.stop()
"""


@pytest.mark.slow
def test_the_extensions_in_the_other_order(path):
    script = REVERSED.format(zcube=ZCUBE, delta=DELTA)
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, text=True, timeout=300
    )
    assert "4 jobs of ZCube" in done.stdout, done.stderr[-3000:]
