"""Writes errors of Python, Spark and Java on one line.

PySpark isn't needed: an error of Java's is known by its methods.
"""

from __future__ import annotations

import re
from typing import Any

# Errors that only say that there is a cause.
_WRAPPERS = re.compile(
    r"Error while instantiating |"
    r"\.(InvocationTargetException|ExceptionInInitializerError|UndeclaredThrowableException)$"
)
_NAMED = re.compile(r"\[[A-Z][A-Z0-9_.]*\]")
_TRACE = re.compile(r"JVM stacktrace:|at \S+\(")
_MAX_CAUSES = 50


def first_line(error: Exception) -> str:
    """Return the first line of a message; of an error from Java, of Java's own message.

    Where Java's error only wraps another one, it is that one's. A line that ends with a colon gets
    what follows it. An error without a text is named by its class, so that no sentence ends in
    nothing, and so is one whose Java doesn't answer any more.
    """
    try:
        return _told(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def _told(error: Exception) -> str:
    link: Any = getattr(error, "java_exception", None) or error
    line, rest = _lines(link)
    for _ in range(_MAX_CAUSES):
        if _NAMED.match(line) or not _WRAPPERS.search(line):
            break
        link = _cause(link)
        if link is None:
            break
        following, rest = _lines(link)
        line = following or line
    # The name of Spark's own errors says what happened.
    if not line.endswith(":") or _NAMED.match(line):
        return line
    cause = _cause(link)
    more = rest or (_lines(cause)[0] if cause is not None else "")
    return f"{line} {more}".rstrip()


def _cause(error: Any) -> Any:
    return error.getCause() if hasattr(error, "getCause") else getattr(error, "_cause", None)


def _lines(error: Any) -> tuple[str, str]:
    """Return the first line of an error of Python's or Java's, and the next that isn't empty."""
    text = str(error if isinstance(error, Exception) else error.toString()).strip()
    line, *rest = [part.strip() for part in text.splitlines() if part.strip()] or [""]
    # Spark's own errors have a name in brackets, so their class says nothing.
    line = re.sub(rf"^[\w.$]+: (?={_NAMED.pattern} )", "", line)
    return line, rest[0] if rest and not _TRACE.match(rest[0]) else ""
