"""Airflow: every hour cluster what is new of a table, then check how well it is clustered.

Airflow's environment needs neither Spark nor ZCube's Python package, only the command ``zcube`` of
another environment.
"""

import json
import os
import subprocess
from datetime import datetime, timedelta

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException

ZCUBE = os.environ.get("ZCUBE", "zcube")
TABLE = os.environ.get("CLICKS", "/data/clicks")


def zcube(*arguments: str) -> dict:
    """Run the command; return the JSON that it prints. Its messages go to the task's log."""
    done = subprocess.run([ZCUBE, *arguments, "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode == 2:
        # It would fail the next time too, so Airflow must not try again.
        raise AirflowFailException(f"Bad usage of {ZCUBE} {arguments[0]}; the log says why.")
    if done.returncode != 0:
        raise RuntimeError(f"{ZCUBE} {arguments[0]} failed; the log says why.")
    return json.loads(done.stdout.splitlines()[-1])


# One run at a time: two would take each other's files.
@dag(schedule="@hourly", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1)
def clicks_layout() -> None:
    """Cluster the table, then check it."""

    @task(retries=2, retry_delay=timedelta(minutes=5))
    def optimize() -> dict:
        done = zcube("optimize", TABLE, "--max-bytes", "200g", "--max-duration", "45min")
        print(f"{done['files_removed']} files rewritten into {done['files_added']}")
        return {"files_removed": done["files_removed"], "files_added": done["files_added"]}

    @task
    def check() -> float:
        # From the log alone; exit code 1 if the bound is broken, which fails the task.
        quality = zcube("quality", TABLE, "--max-depth", "40")
        print(f"average depth {quality['all']['average_depth']}")
        return quality["all"]["average_depth"]

    optimize() >> check()


clicks_layout()
