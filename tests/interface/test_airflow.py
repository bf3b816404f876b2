"""examples/airflow: Airflow runs the DAG, with the command of this checkout."""

import subprocess

import pytest

from tests.support import tools
from tests.support.log_replay import live_files

pytestmark = [pytest.mark.slow, tools.needed]


@pytest.fixture
def airflow(tmp_path):
    """Run a command of Airflow with a home, and so a database, of its own."""
    given = tools.environment(
        ZCUBE=tools.command(tmp_path), AIRFLOW_HOME=str(tmp_path / "airflow"),
        AIRFLOW__CORE__DAGS_FOLDER=str(tools.ROOT / "examples/airflow"),
        AIRFLOW__CORE__LOAD_EXAMPLES="False",
    )  # fmt: skip

    def run(*arguments, **more):
        return subprocess.run(
            [tools.python("airflow"), "-m", "airflow", *arguments], env={**given, **more},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, cwd=tmp_path,
        )  # fmt: skip

    done = run("db", "migrate")
    assert done.returncode == 0, done.stdout[-3000:]
    return run


def test_the_dag_clusters_the_table_and_checks_it(spark, airflow, path):
    rows = spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS user")
    rows.write.format("delta").clusterBy("user").save(path)
    done = airflow("dags", "test", "clicks_layout", CLICKS=path)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "3 files rewritten into 1" in done.stdout
    assert "average depth 1.0" in done.stdout
    assert "state=success" in done.stdout
    assert len(live_files(path)) == 1


def test_a_failing_command_fails_the_task_or_is_tried_again(airflow, path, tmp_path):
    """Exit code 1 is tried again, 2 is not: a command that only exits stands for zcube."""
    for code, said, state in (
        ("1", "RuntimeError", "up_for_retry"),
        ("2", "AirflowFailException", "failed"),
    ):
        command = tmp_path / f"exits-{code}"
        command.write_text(f"#!/bin/sh\nexit {code}\n")
        command.chmod(0o755)
        done = airflow(
            "tasks", "test", "clicks_layout", "optimize", CLICKS=path, ZCUBE=str(command)
        )
        assert said in done.stdout
        assert f"new_state={state}" in done.stdout
