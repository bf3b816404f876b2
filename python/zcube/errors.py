"""Errors of ZCube's own; whatever Spark or Delta refuses keeps its own typed exception."""

from __future__ import annotations


class ZCubeError(Exception):
    """Something that ZCube can't do, with what to do about it."""


class ColumnNotFoundError(ZCubeError):
    """A table has no such column, by its log as it is read without Spark."""
