"""The command zcube."""

import json
import subprocess
import sys

import pytest
from zcube import cli


def test_help_and_bad_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    assert "optimize" in capsys.readouterr().out
    for arguments in (
        [],
        ["nope"],
        ["optimize"],
        ["optimize", "/x", "--merge-policy", "none"],
        ["optimize", "/x", "--zorder-by", "a", "--curve", "peano"],
        ["optimize", "/x", "--zorder-by", "a", "--conf", "nonsense"],
        ["optimize", "/x", "--zorder-by", "a", "--curve", "kdtree", "--weights", "a=many"],
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
    errors = capsys.readouterr().err
    assert "write 'nonsense' as KEY=VALUE" in errors
    assert "write 'a=many' as COLUMN=NUMBER" in errors


def test_errors_are_one_line_and_the_cure(capsys):
    assert cli.main(["demo", "--scale", "0"]) == 1
    error = capsys.readouterr().err
    assert error == "zcube: scale must be 0.01 to 100, not 0.\n"


def run(*arguments):
    command = [sys.executable, "-m", "zcube.cli", *arguments]
    command += ["--json", "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_optimize_zorder(spark, path):
    spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y").write.format("delta").save(path)
    result = run(
        "optimize", path, "--zorder-by", "x,y", "--curve", "kdtree", "--weights", "x=2,y=1"
    )
    assert (result["files_removed"], result["files_added"]) == (3, 1)


def test_optimize_a_clustered_table(spark, path):
    rows = spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y")
    rows.write.format("delta").clusterBy("x", "y").save(path)
    result = run(
        "optimize", path, "--full", "--where", "x > -1", "--merge-policy", "all",
        "--max-bytes", "1g", "--max-duration", "1h", "--min-cube-size", "1m",
        "--target-cube-size", "2m", "--max-file-size", "10k",
    )  # fmt: skip
    assert result["files_removed"] == 3
    assert result["files_added"] > 2
    assert [cube["state"] for cube in result["cubes"]] == ["committed"]
