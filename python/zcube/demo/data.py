"""The demo's data: TPC-H lineitem as Parquet, then as a Delta table with many files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 32
"""Files of the table before anything is clustered."""


def lineitem(cache: Path, scale: float) -> Path:
    """Return a folder with lineitem as Parquet; it is generated once for each scale factor.

    Raises:
        ZCubeError: tpchgen-cli is missing or fails.
    """
    done = cache / f"tpch-sf{scale:g}"
    if done.is_dir():
        return done / "lineitem"
    # It has another name until it is complete, so an interrupted run leaves no partial table.
    partial = cache / f"{done.name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    arguments = ["-s", f"{scale:g}", "--tables=lineitem", f"--parts={FILES}", "--quiet"]
    command = [_generator(), "parquet", *arguments, f"--output-dir={partial}"]
    outcome = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if outcome.returncode != 0:
        raise ZCubeError(f"tpchgen-cli failed: {outcome.stderr.strip()}")
    partial.rename(done)
    return done / "lineitem"


def write_table(spark: SparkSession, source: Path, table: Path) -> None:
    """Write the Parquet files as a Delta table, one file for each of them."""
    shutil.rmtree(table, ignore_errors=True)
    # By default, Spark would read several small files together, and so write them together.
    whole_files = {
        "spark.sql.files.maxPartitionBytes": "1g",
        "spark.sql.files.openCostInBytes": "1g",
    }
    for key, value in whole_files.items():
        spark.conf.set(key, value)
    try:
        spark.read.parquet(str(source)).write.format("delta").save(str(table))
    finally:
        for key in whole_files:
            spark.conf.unset(key)


def _generator() -> str:
    beside_python = Path(sys.executable).parent / "tpchgen-cli"
    found = str(beside_python) if beside_python.is_file() else shutil.which("tpchgen-cli")
    if found is None:
        raise ZCubeError("The demo needs tpchgen-cli: pip install 'zcube[demo]'.")
    return found
