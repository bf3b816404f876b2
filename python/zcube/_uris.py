"""Where a URI leads. As Hadoop writes them, nothing in them is escaped."""

from __future__ import annotations

import re
from pathlib import Path

from zcube.errors import ZCubeError

# A single letter would be a drive's.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(?=:)")
# Other names of the same store: of older connectors, or with TLS.
_SAME = {"s3a": "s3", "s3n": "s3", "wasbs": "wasb", "abfss": "abfs"}


def local_path(uri: str) -> Path | None:
    """Return the local path that a URI or a plain path names; None if it is elsewhere.

    >>> [str(local_path(uri)) for uri in ("a b", "file:/x", "file:///x", "file://host/x", "s3://x")]
    ['a b', '/x', '/x', 'None', 'None']
    """
    # Hadoop takes more slashes too, as where file:/// precedes an absolute path.
    local = re.match(r"file:(/{3,}|/(?!/))", uri)
    if local:
        return Path(f"/{uri[local.end() :]}")
    return None if _is_uri(uri) else Path(uri)


def require_text(text: str, what: str = "path") -> None:
    """Check that Java will read a path, or a name, as it is meant.

    Raises:
        ZCubeError: it is empty, or has bytes that aren't UTF-8, or that Python couldn't decode in
            this locale.
    """
    if not text:
        raise ZCubeError(f"The {what} of the table is empty.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ZCubeError(
            f"The {what} {text!r} isn't text in UTF-8. Set a locale with UTF-8, such as "
            "LC_ALL=C.UTF-8, or rename it."
        ) from None


def canonical(uri: str) -> str:
    """Return what is equal for the URIs of one place.

    >>> canonical("file:///x"), canonical("s3a://b/x/"), canonical("s3n://b/x")
    ('/x', 's3://b/x', 's3://b/x')
    """
    path = local_path(uri)
    if path is not None:
        return path.as_posix()
    scheme, _, rest = uri.partition(":")
    return f"{_SAME.get(scheme, scheme)}:{rest}".rstrip("/")


def _is_uri(text: str) -> bool:
    """Return whether a text begins with a scheme, as in ``file:/x`` or ``s3://b/x``."""
    scheme = _SCHEME.match(text)
    return scheme is not None and text.startswith("/", scheme.end() + 1)
