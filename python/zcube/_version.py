"""The one place of the version: the wheel and, by sbt, the jar."""

__version__ = "0.1.0"
