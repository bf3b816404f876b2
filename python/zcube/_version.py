"""The only definition of the version, for the wheel and, through sbt, the jar."""

__version__ = "0.1.0"
