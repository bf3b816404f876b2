"""Distinguishes Spark Connect from a classic session."""

from __future__ import annotations


def is_connect(spark: object) -> bool:
    """Return whether a session uses Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")
