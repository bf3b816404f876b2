"""Installs what `make release-trial` built in an empty environment: with pip from a folder, and with --packages.

`ZCUBE_INSTALL_PYTHONS` names the Python interpreters to do so with, separated by blanks: the tests' own by default.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from zcube import __version__
from zcube._spark import versions

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
PYTHONS = os.environ.get("ZCUBE_INSTALL_PYTHONS", sys.executable).split()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not list(DIST.glob(f"zcube-{__version__}-maven.zip")),
        reason="installs what is in dist/, which `make release-trial` builds",
    ),
]

QUICK_START = """
import sys
from pathlib import Path
import zcube
from pyspark.sql import SparkSession
assert Path(zcube.__file__).is_relative_to(sys.argv[1]), zcube.__file__
spark = zcube.configure(SparkSession.builder.master("local[1]")).getOrCreate()
spark.range(1000).selectExpr("id", "hash(id) x").write.format("delta").save(sys.argv[2])
print("FILES", zcube.ClusteredTable.for_path(spark, sys.argv[2]).optimize(zorder_by=["id", "x"]).files_added)
spark.stop()
"""

SQL_ONLY = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(1000).selectExpr("id", "hash(id) x").write.format("delta").save(sys.argv[1])
row = spark.sql(f"OPTIMIZE delta.`{sys.argv[1]}` ZORDER BY (id, x) OPTIONS ('curve' = 'hilbert')").collect()[0]
print("FILES", row.metrics.numFilesAdded)
print("JARS", [jar for jar in spark.sparkContext._jsc.sc().listJars().mkString(" ").split() if "zcube" in jar])
spark.stop()
"""

EXTENSIONS = "io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension"


def run(*command, **options):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=900, **options
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A folder with only ZCube and its dependencies."""
    folder = tmp_path_factory.mktemp("index")
    (wheel,) = DIST.glob(f"zcube-{__version__}-py3-none-any.whl")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", folder, wheel)
    return folder


@pytest.fixture(scope="module", params=PYTHONS)
def python(request, tmp_path_factory, index):
    """A virtual environment that uses only that folder."""
    folder = tmp_path_factory.mktemp("stranger")
    run(request.param, "-m", "venv", folder)
    run(folder / "bin/pip", "install", "--quiet", "--no-index", "--find-links", index, "zcube")
    return folder


def environment(**more):
    """As in a new shell, without anything from this checkout."""
    own = ("PYTHONPATH", "SPARK_HOME", "SPARK_CONF_DIR", "SPARK_SUBMIT_OPTS")
    return {name: value for name, value in os.environ.items() if name not in own} | more


def test_pip_installs_from_a_local_index(python, path, tmp_path):
    script = tmp_path / "quick_start.py"
    script.write_text(QUICK_START)
    out = run(python / "bin/python", script, python, path, cwd=tmp_path, env=environment())
    assert "FILES 1" in out


def test_the_sdist_makes_the_same_wheel(tmp_path):
    (sdist,) = DIST.glob(f"zcube-{__version__}.tar.gz")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
        "--wheel-dir", tmp_path, sdist)  # fmt: skip

    def content(file):
        with zipfile.ZipFile(file) as archive:
            return {info.filename: info.CRC for info in archive.infolist()}

    (wheel,) = DIST.glob(f"zcube-{__version__}-py3-none-any.whl")
    assert content(tmp_path / wheel.name) == content(wheel)


def test_packages_come_from_a_local_maven_repository(python, path, tmp_path):
    line = versions.spark_line()
    script = tmp_path / "sql_only.py"
    script.write_text(SQL_ONLY)
    delta = f"io.delta:delta-spark_{line}_2.13:{versions.delta_version(line)}"
    out = run(
        python / "bin/spark-submit", "--master", "local[1]",
        "--repositories", (DIST / "maven").as_uri(),
        "--packages", f"io.zcube:zcube-spark_{line}_2.13:{__version__},{delta}",
        "--conf", f"spark.jars.ivy={tmp_path / 'ivy'}", "--conf", "spark.ui.enabled=false",
        "--conf", f"spark.sql.extensions={EXTENSIONS}",
        "--conf", "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
        script, path, cwd=tmp_path, env=environment(PYSPARK_PYTHON=str(python / "bin/python")),
    )  # fmt: skip
    assert "FILES 1" in out
    assert f"io.zcube_zcube-spark_{line}_2.13-{__version__}.jar" in out
