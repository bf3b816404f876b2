"""The command ``zcube``."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence

from zcube._log.conditions import NO_CLUSTERING_COLUMNS
from zcube._messages import first_line
from zcube._version import __version__
from zcube.cli import (
    completion,
    demo,
    doctor,
    engine,
    optimize,
    output,
    pictures,
    quality,
    recommend,
)
from zcube.cli.arguments import Commands
from zcube.errors import ZCubeError

# What names columns in SQL, and what does here.
_REMEDIES = ("DESCRIBE CLUSTERING … BY (a, b)", "--by a,b")
# In the order of --help. Completion comes last, because it completes what the parser knows so far.
_MODULES = (demo, optimize, quality, recommend, pictures, doctor, completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 for success, 1 for failure, 2 for bad usage."""
    # Errors are one line. Without a handler, py4j would log many lines for an interrupted call.
    logging.getLogger().addHandler(logging.NullHandler())
    output.allow_any_character()
    parser = _parser()
    options = parser.parse_args(arguments)
    engine.check(parser.error, options)
    try:
        return int(options.run(options))
    except ZCubeError as error:
        output.note(_with_remedy(str(error)))
    except KeyboardInterrupt:
        output.note("stopped")
    except ModuleNotFoundError as error:
        if error.name != "pyspark":
            raise
        output.note("this needs PySpark: pip install pyspark")
    except Exception as error:
        # A full disk, or a folder without permission, needs no trace either.
        if not isinstance(error, OSError) and not _of_spark(error):
            raise
        output.note(_with_remedy(first_line(error)))
    return 1


def _with_remedy(text: str) -> str:
    """Return an error's text, with the command's own remedy instead of SQL's."""
    return text.replace(*_REMEDIES) if NO_CLUSTERING_COLUMNS.is_in(text) else text


def _of_spark(error: Exception) -> bool:
    """Return whether an error is PySpark's, or Java's before PySpark converts such errors."""
    if "pyspark" not in sys.modules:
        return False
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException) or type(error).__module__.startswith("py4j.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zcube",
        description="Cluster Delta Lake tables so that queries skip files.",
        epilog="example: zcube quality /data/events --by x,y; commands have --help with an example",
    )
    parser.add_argument("--version", action="version", version=f"zcube {__version__}")
    commands = Commands(parser)
    for module in _MODULES:
        module.add(commands)
    return parser
