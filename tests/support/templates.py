"""Tables that many tests start from: Spark writes each once, and the tests copy its files."""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def written_once(make: Callable[..., None]) -> Callable[..., None]:
    """Let ``make(spark, path, …)`` write a table the first time, and copy it whenever it is asked for again.

    A copy has the same files, and the same ids of the table and of its columns. ``make`` must not
    depend on settings of the session; where a test changes one that matters, ``copied.__wrapped__``
    writes.
    """
    made: dict[Any, tempfile.TemporaryDirectory[str]] = {}

    @functools.wraps(make)
    def copied(spark: SparkSession, path: str, *given: Any, **named: Any) -> None:
        key = (given, *sorted(named.items()))
        if key not in made:
            folder = tempfile.TemporaryDirectory(prefix="template-")
            make(spark, str(Path(folder.name) / "table"), *given, **named)
            made[key] = folder
        shutil.copytree(Path(made[key].name) / "table", path)

    return copied
