"""examples/dagster: Dagster materializes the asset and runs its check, with the command of this checkout."""

import json
import subprocess

import pytest

from tests.support import tools
from tests.support.log_replay import live_files

pytestmark = [pytest.mark.slow, tools.needed]

# All runs in one process, each with a command of its own.
RUNS = """
import json, os, runpy, sys
import dagster as dg

def run(command):
    os.environ["ZCUBE"] = command
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
        ],
    }

def retried(command):
    os.environ["ZCUBE"] = command
    try:
        runpy.run_path(sys.argv[1])["zcube"]("optimize")
    except dg.Failure as failure:
        return failure.allow_retries

zcube, deep, misused, failing = sys.argv[3:]
answers = [*map(run, (zcube, deep, misused)), retried(misused), retried(failing)]
json.dump(answers, open(sys.argv[2], "w"))
"""


def stub(folder, name, script):
    """A command that stands for zcube."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return str(file)


def test_the_asset_is_materialized_and_checked(spark, path, tmp_path):
    rows = spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS user")
    rows.write.format("delta").clusterBy("user").save(path)
    zcube = tools.command(tmp_path)
    # A broken bound: quality is measured, and the exit code is 1.
    figures = ("files_removed", "files_added", "bytes_removed", "bytes_added", "left_bytes")
    nothing = json.dumps(dict.fromkeys(figures, 0))
    broken = f"""[ "$1" = optimize ] && echo '{nothing}' || {{ "{zcube}" "$@"; exit 1; }}"""
    deep = stub(tmp_path, "deep", broken)
    misused = stub(tmp_path, "misused", "echo no such option >&2; exit 2")
    failing = stub(tmp_path, "failing", "echo :: loading settings; echo conflict >&2; exit 1")
    answer = tmp_path / "answer.json"
    example = tools.ROOT / "examples/dagster/clicks.py"
    done = subprocess.run(
        [tools.python("dagster"), "-c", RUNS, example, answer, zcube, deep, misused, failing],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env=tools.environment(CLICKS=path, DAGSTER_DISABLE_TELEMETRY="1"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    good, deep, misused, misuse_retried, failure_retried = json.loads(answer.read_text())
    assert good["done"], good["errors"]
    (metadata,) = good["metadata"]
    assert (metadata["files_removed"], metadata["files_added"], metadata["left_bytes"]) == (3, 1, 0)
    assert len(live_files(path)) == 1
    assert good["checks"] == [[True, 1.0]]
    assert deep["checks"] == [[False, 1.0]]
    assert (misused["done"], misused["metadata"]) == (False, [])
    assert "no such option" in misused["errors"][0]
    assert (misuse_retried, failure_retried) == (False, True)
