"""Each file of examples/ runs and prints what its reader is told.

`connect.py` runs in test_connect_server, on the server that is there anyway; dbt, Airflow and Dagster need packages of
their own: test_dbt, test_airflow, test_dagster.
"""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from zcube._spark import jar, versions

from tests.support import jars
from tests.support.processes import bare_python
from tests.support.standalone_cluster import SPARK

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def test_each_example_has_its_test():
    found = sorted(str(file.relative_to(EXAMPLES)) for file in EXAMPLES.rglob("*.py"))
    assert found == [
        "airflow/clicks.py", "batch.py", "connect.py", "dagster/clicks.py", "streaming.py", "submit.py",
    ]  # fmt: skip


@pytest.fixture
def run(spark, tmp_path, monkeypatch, capsys):
    """Run an example in the tests' session, which zcube.configure finds."""

    def run(name):
        monkeypatch.setattr(sys, "argv", [name, str(tmp_path)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    yield run
    for stream in spark.streams.active:
        stream.stop()


def numbers(line):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", line)]


@pytest.mark.long
def test_batch_rewrites_what_is_new_and_a_query_skips_files(run, spark, tmp_path):
    *days, query, again = run("batch.py")
    assert [line.split(":")[0] for line in days] == ["day 1", "day 2"]
    # Files of the days before stay: only what is new is rewritten, at first with day 0.
    assert [numbers(line)[1] for line in days] == [16, 8]
    read, files = numbers(query)
    assert read < files / 4
    assert numbers(again) == [0]


@pytest.mark.long
def test_streaming_clusters_while_rows_arrive(run):
    *runs, rows = run("streaming.py")
    assert len(runs) == 2
    assert all(numbers(line)[0] > 1 for line in runs)
    assert numbers(rows)[0] >= 6 * 500


@pytest.mark.long
@pytest.mark.slow
def test_submit_lowers_the_depth(spark, tmp_path):
    """As its docstring says, but for Delta's jars, which Ivy brought before."""
    source = (EXAMPLES / "submit.py").read_text()
    extensions, catalog = re.findall(r"--conf (\S+)", source)
    needed = [str(jar.jar_path(versions.spark_line())), *jars.of_delta()]
    done = subprocess.run(
        [
            SPARK / "bin/spark-submit", "--master", "local[2]", "--jars", ",".join(needed),
            "--conf", extensions, "--conf", catalog,
            "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
            "--conf", "spark.driver.memory=1g",
            "--conf", "spark.sql.shuffle.partitions=4",
            "--conf", "spark.databricks.delta.snapshotPartitions=2",
            "--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse",
            EXAMPLES / "submit.py", tmp_path,
        ],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, **bare_python(tmp_path), "SPARK_HOME": str(SPARK)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-4000:]
    files, depths = done.stdout.splitlines()[-2:]
    assert numbers(files)[0] == 16
    before, after = numbers(depths)
    assert after < before
