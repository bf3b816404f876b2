"""Spark Connect, told from a session with a Java process of its own."""

from __future__ import annotations


def is_connect(spark: object) -> bool:
    """Return whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")
