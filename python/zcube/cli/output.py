"""Prints results and notes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from zcube.errors import ZCubeError


def allow_any_character() -> None:
    """Let standard output escape what its encoding lacks, as standard error does."""
    # Programs that call this one may have put something else in its place.
    if getattr(sys.stdout, "errors", None) == "strict" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def show(result: object) -> None:
    """Print a result. A reader that has read enough, such as ``head``, is no error.

    Raises:
        ZCubeError: it can't be printed, for example to a full disk.
    """
    try:
        print(result, flush=True)
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        raise ZCubeError(f"The result can't be printed: {error}.") from error


def note(text: object) -> None:
    """Print a line about the command to standard error; nothing depends on it."""
    # If it is closed, print would take standard output, which may be read as JSON.
    if sys.stderr is None:
        return
    try:
        print(f"zcube: {text}", file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)


def _discard(stream: TextIO) -> None:
    """Let the rest of a stream go nowhere: at its end Python would complain, with another code."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
