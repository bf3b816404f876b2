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
        ["optimize", "/x"],
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


@pytest.mark.slow
def test_optimize(spark, path):
    spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y").write.format("delta").save(path)
    command = [
        sys.executable,
        "-m",
        "zcube.cli",
        "optimize",
        path,
        "--zorder-by",
        "x,y",
        "--curve",
        "kdtree",
        "--weights",
        "x=2,y=1",
    ]
    command += ["--json", "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert (result["files_removed"], result["files_added"]) == (3, 1)
