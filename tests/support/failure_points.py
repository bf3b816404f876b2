"""Stops an OPTIMIZE at a place of its way, to kill it there or to change the table under it.

The other half is FailurePoint.scala, which looks at the folder only if the variable
ZCUBE_FAILURE_POINTS names it when the JVM starts.
"""

from __future__ import annotations

import time
from pathlib import Path


class FailurePoints:
    """Switches the places on and off, by files in a folder."""

    PLACES = ("before-sampling", "before-writing", "before-commit", "after-commit")

    def __init__(self, folder: str | Path) -> None:
        """Use the folder that the process to be stopped was told."""
        self._folder = Path(folder)

    def stop_at(self, place: str) -> None:
        """The first run that comes there waits."""
        assert place in self.PLACES
        (self._folder / place).touch()

    def reached(self, place: str) -> bool:
        """Whether a run waits there."""
        return (self._folder / f"{place}.reached").exists()

    def wait_for(self, place: str, alive=lambda: True, seconds: float = 180) -> None:
        """Return once a run waits there; fail if there is none, or it ended."""
        end = time.monotonic() + seconds
        while not self.reached(place):
            assert alive(), f"the run ended before {place}"
            assert time.monotonic() < end, f"no run came to {place}"
            time.sleep(0.02)

    def clear(self) -> None:
        """Let whatever waits go on."""
        for file in self._folder.iterdir():
            if not file.name.endswith(".reached"):
                file.unlink()
        for file in self._folder.iterdir():
            file.unlink()
