"""Benchmarks run on small tables, so that a change which breaks one doesn't wait for its next use.

Those whose smallest run takes long are left out, such as merge, streams and queries.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SMALL = {
    "idle": ["--files", "40"],
    "large_log": ["--partitions", "90"],
    "large_log --whole": ["--partitions", "90", "--memory", "1g"],
    "merge_copies": ["--files", "2", "--rounds", "1", "--warm", "0", "--clauses", "upsert"],
    "merge_large_log": ["--partitions", "20", "--memory", "1g"],
    "merge_tpch": ["--scale", "0.01", "--rounds", "1", "--warm", "0"],
    "partitions": ["--partitions", "8", "--delta-up-to", "8"],
    "quality": ["--quick", "--data", "uniform"],
    "quality_from_log": ["--files", "100"],
    "zorder": ["--scale", "0.01", "--rounds", "1"],
}


@pytest.mark.long
@pytest.mark.parametrize("benchmark", SMALL)
def test_a_benchmark_runs_on_a_small_table(benchmark, tmp_path):
    module, *words = benchmark.split()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", *words, *SMALL[benchmark], "--output", tmp_path],
        capture_output=True, text=True, timeout=900, cwd=ROOT,
        env={key: value for key, value in os.environ.items() if "PYSPARK" not in key},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-2000:]
    figures = [file for file in tmp_path.iterdir() if file.suffix == ".json"]
    assert figures
    assert all(json.loads(file.read_text()) for file in figures)
    assert any(file.suffix == ".md" for file in tmp_path.iterdir())
