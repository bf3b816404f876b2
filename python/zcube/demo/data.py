"""TPC-H data, generated once and kept."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from zcube.errors import ZCubeError


def lineitem(folder: Path, scale: float) -> Path:
    """Return a Parquet file of lineitem at that scale factor.

    Raises:
        ZCubeError: tpchgen-cli is not installed or fails.
    """
    target = folder / f"lineitem-sf{scale:g}.parquet"
    if target.exists():
        return target
    command = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or shutil.which(
        "tpchgen-cli"
    )
    if command is None:
        raise ZCubeError("tpchgen-cli is not installed: pip install 'zcube[demo]'.")
    fresh = folder / "generating"
    arguments = ["parquet", "-s", f"{scale:g}", "--tables=lineitem", f"--output-dir={fresh}"]
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ZCubeError(f"tpchgen-cli failed: {done.stderr.strip()}")
    (fresh / "lineitem.parquet").rename(target)
    shutil.rmtree(fresh)
    return target
