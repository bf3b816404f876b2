"""ZCube's own errors; errors of Spark and Delta keep their typed exceptions."""

from __future__ import annotations


class ZCubeError(Exception):
    """ZCube can't do something; the message says how to fix it."""


class ColumnNotFoundError(ZCubeError):
    """A table has no such column, according to its log."""
