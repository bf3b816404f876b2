"""Spark Connect: whether a session uses it, which server it will have, and whether that answers."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from urllib.parse import urlsplit

_PORT = 15002


def is_connect(spark: object) -> bool:
    """Return whether a session uses Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def names_server(options: Mapping[str, str]) -> bool:
    """Return whether the session will be a client of the Spark Connect server that is named."""
    return server_of(options) is not None


def server_of(options: Mapping[str, str]) -> str | None:
    """Return the URL of the Spark Connect server whose client the session will be.

    With ``remote("local[2]")`` there is none: PySpark then starts the server itself, with these
    options.
    """
    # With spark.api.mode=connect, PySpark takes the master's URL, too.
    urls = (
        options.get("spark.remote") or os.environ.get("SPARK_REMOTE"),
        options.get("spark.master"),
    )
    return next((url for url in urls if url is not None and url.startswith("sc://")), None)


def silence_of(server: str) -> str | None:
    """Say that nothing answers at a server's address; None if something does.

    PySpark tries for minutes, and says nothing meanwhile. Beyond a proxy, only gRPC can tell.
    """
    try:
        address = urlsplit(server)
        host, port = address.hostname or "localhost", address.port or _PORT
    except ValueError:
        return None  # PySpark says what is wrong with it.
    proxies = any(os.environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy"))
    if proxies and host not in ("localhost", "127.0.0.1", "::1"):
        return None
    try:
        socket.create_connection((host, port), timeout=5).close()
    except ValueError:
        return None  # It is no name of a host.
    except OSError as error:
        why = error.strerror or str(error)
        return f"nothing answers at {host}:{port} ({why}), and PySpark tries again for some minutes"
    return None
