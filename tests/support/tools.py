"""Tools that ZCube fits into, each in an environment of its own, which `make test-tools` makes.

Their packages are some 600 MB to download, and take longer to install than all of their tests: too much
for every change. So `.ci/run` skips these tests, and the nightly workflow runs them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SWITCH = "ZCUBE_TOOLS"

needed = pytest.mark.skipif(
    not os.environ.get(SWITCH),
    reason=f"needs an environment of its own, which `make test-tools` makes ({SWITCH}=1)",
)


def python(tool: str) -> str:
    """The interpreter that has the tool. Where it is missing the test fails: it was asked for."""
    found = ROOT / ".build" / f"tool-{tool}" / "bin/python"
    assert found.is_file(), f"{found} is missing: make test-tools makes it"
    return str(found)


def environment(**more: str) -> dict[str, str]:
    """Variables for its processes, without what pytest's own environment would lend them."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return {**kept, "SPARK_LOCAL_IP": "127.0.0.1", **more}


def command(folder: Path) -> str:
    """A file that is the command ``zcube`` of this environment, for tools that haven't the package."""
    file = folder / "zcube"
    options = "--master 'local[2]' --conf spark.ui.enabled=false"
    # Options for Spark would make `quality` start it.
    file.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={ROOT / 'python'}\n"
        f'[ "$1" = optimize ] && set -- "$@" {options}\n'
        f'exec {sys.executable} -m zcube "$@"\n'
    )
    file.chmod(0o755)
    return str(file)
