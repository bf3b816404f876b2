"""The wheel contains jars for every Spark line, and beside PySpark it is enough for a working session.

`tests/release/test_install.py` installs it into an empty environment, with what it requires (`make release-trial`).
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from zcube import __version__
from zcube._spark import versions

ROOT = Path(__file__).resolve().parents[2]

SCRIPT = """
import zcube, sys
from pathlib import Path
from pyspark.sql import SparkSession
assert Path(zcube.__file__).is_relative_to(sys.argv[1]), zcube.__file__
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.databricks.delta.snapshotPartitions", "2")
spark = zcube.configure(builder).getOrCreate()
assert sys.argv[1] in spark.conf.get("spark.jars"), spark.conf.get("spark.jars")
print("INDEX", spark.sql("SELECT hilbert_index(2, 2, 0)").collect()[0][0])
spark.range(100).write.format("delta").save(sys.argv[2])
print("FILES", zcube.ClusteredTable.for_path(spark, sys.argv[2]).optimize(zorder_by=["id"]).files_added)
spark.stop()
"""


@pytest.mark.slow
def test_the_wheel_is_enough_beside_pyspark(tmp_path, path):
    source = tmp_path / "python"
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__", "jars"))
    jars = source / "zcube" / "jars"
    jars.mkdir()
    built = {
        line: ROOT
        / f"jvm/delta/target/spark-{line}/scala-2.13/zcube-spark_{line}_2.13-{__version__}.jar"
        for line in versions.SPARK_LINES
    }
    for line, jar in built.items():
        assert jar.is_file(), f"the jar for Spark {line} is not built: make jars"
        shutil.copy(jar, jars)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, source],
        check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("zcube-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    held = {Path(name).name for name in names}
    assert {jar.name for jar in built.values()} <= held
    assert "py.typed" in held

    metadata = "".join(
        zipfile.ZipFile(wheel).read(name).decode() for name in names if "METADATA" in name
    )
    assert {"pyspark", "delta-spark"} <= set(
        re.findall(r"^Requires-Dist: ([\w-]+)", metadata, re.MULTILINE)
    )

    # Before the packages of the tests' environment, which has ZCube's sources.
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", installed, wheel],
        check=True,
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, installed, path],
        capture_output=True, text=True, cwd=tmp_path, timeout=300,
        env={**os.environ, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert "INDEX 14" in done.stdout, done.stderr[-3000:]
    assert "FILES 1" in done.stdout, done.stderr[-3000:]
