"""The dependencies among the Python packages; the rules are in python/pyproject.toml."""

import subprocess
import sys
from pathlib import Path

from tests.support.kill import ROOT


def test_packages_need_each_other_in_one_direction_only():
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    found = subprocess.run(
        command, cwd=ROOT / "python", capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_importing_zcube_needs_neither_pyspark_nor_numbers_nor_pictures():
    program = "import sys, zcube; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT / "python",
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(found.stdout.split())
    assert "zcube" in loaded
    assert not loaded & {"pyspark", "py4j", "numpy", "pyarrow", "deltalake", "matplotlib", "rich"}
