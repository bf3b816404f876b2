"""examples/dagster: Dagster materializes the asset and runs its check, with the command of this checkout."""

import json
import subprocess

import pytest

from tests.support import tools
from tests.support.log_replay import live_files

pytestmark = [pytest.mark.slow, tools.needed]

# Two runs in one process: the table as it is, and one that isn't there.
RUNS = """
import json, os, runpy, sys
import dagster as dg

def run(table):
    os.environ["CLICKS"] = table
    names = runpy.run_path(sys.argv[1])
    chosen = [names["clicks_layout"], names["clicks_depth"]]
    result = dg.materialize(chosen, raise_on_error=False)
    return {
        "done": result.success,
        "metadata": [
            {key: value.value for key, value in event.materialization.metadata.items()}
            for event in result.get_asset_materialization_events()
        ],
        "checks": [
            [check.passed, check.metadata["average depth"].value]
            for check in result.get_asset_check_evaluations()
        ],
        "errors": [
            event.step_failure_data.error.to_string() for event in result.all_events if event.is_step_failure
        ] + [event.message for event in result.all_events if event.event_type_value == "STEP_UP_FOR_RETRY"],
    }

json.dump([run(table) for table in sys.argv[3:]], open(sys.argv[2], "w"))
"""


def test_the_asset_is_materialized_and_checked(spark, path, tmp_path):
    rows = spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS user")
    rows.write.format("delta").clusterBy("user").save(path)
    answer = tmp_path / "answer.json"
    example = tools.ROOT / "examples/dagster/clicks.py"
    done = subprocess.run(
        [tools.python("dagster"), "-c", RUNS, str(example), str(answer), path, f"{path}-gone"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env=tools.environment(ZCUBE=tools.command(tmp_path), DAGSTER_DISABLE_TELEMETRY="1"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    good, gone = json.loads(answer.read_text())
    assert good["done"], good["errors"]
    (metadata,) = good["metadata"]
    assert (metadata["files_removed"], metadata["files_added"], metadata["left_bytes"]) == (3, 1, 0)
    assert len(live_files(path)) == 1
    assert good["checks"] == [[True, 1.0]]
    assert not gone["done"]
    assert gone["metadata"] == []
    assert "-gone" in str(gone["errors"])
