"""Dagster: a table's layout as an asset, with a check of how well the table is clustered.

Dagster's environment needs neither Spark nor ZCube's Python package, only the command ``zcube`` of
another environment.
"""

import json
import os
import subprocess

import dagster as dg

ZCUBE = os.environ.get("ZCUBE", "zcube")
TABLE = os.environ.get("CLICKS", "/data/clicks")


def zcube(*arguments: str) -> tuple[int, dict]:
    """Run the command; return its exit code, 0 or 1, and the JSON that it prints."""
    done = subprocess.run([ZCUBE, *arguments, "--json"], capture_output=True, text=True)
    # Spark may print lines of its own before the answer.
    answer = ["", *done.stdout.splitlines()][-1]
    if not answer.startswith("{"):
        # Bad usage would fail the next time too.
        raise dg.Failure(done.stderr[-2000:], allow_retries=done.returncode != 2)
    return done.returncode, json.loads(answer)


# One run at a time: limit the pool to 1, for two runs would take each other's files.
@dg.asset(pool="clicks", retry_policy=dg.RetryPolicy(max_retries=2, delay=300))
def clicks_layout() -> dg.MaterializeResult:
    """Files of the table, clustered."""
    _, done = zcube("optimize", TABLE, "--max-bytes", "200g", "--max-duration", "45min")
    figures = ("files_removed", "files_added", "bytes_removed", "bytes_added", "left_bytes")
    return dg.MaterializeResult(metadata={figure: done[figure] for figure in figures})


@dg.asset_check(asset=clicks_layout)
def clicks_depth() -> dg.AssetCheckResult:
    """From the log alone; exit code 1 if the bound is broken."""
    code, quality = zcube("quality", TABLE, "--max-depth", "40")
    depth = quality["all"]["average_depth"]
    return dg.AssetCheckResult(passed=code == 0, metadata={"average depth": depth})


hourly = dg.ScheduleDefinition(
    name="hourly", cron_schedule="0 * * * *", target=dg.AssetSelection.assets(clicks_layout)
)
definitions = dg.Definitions([clicks_layout], asset_checks=[clicks_depth], schedules=[hourly])
