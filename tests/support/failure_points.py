"""Stops an OPTIMIZE at some point, to kill it there or to change the table concurrently.

The other half is FailurePoint.scala, which looks at the folder only if the variable
ZCUBE_FAILURE_POINTS names it when the JVM starts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException


@dataclass
class Outcome:
    """The outcome of a paused run.

    Attributes:
        reached: whether it reached the point where it should wait.
        result: what it returned, once it has ended.
        error: otherwise its exception, if it is one of PySpark's.
    """

    reached: bool = False
    result: Any = None
    error: PySparkException | None = None


class FailurePoints:
    """Enables and disables the points with files in a folder."""

    PLACES = ("before-sampling", "before-writing", "before-commit", "after-commit")

    def __init__(self, folder: str | Path) -> None:
        """Use the folder that the process to stop was started with."""
        self._folder = Path(folder)

    def stop_at(self, place: str) -> None:
        """The first run that reaches this point waits."""
        assert place in self.PLACES
        (self._folder / place).touch()

    @contextmanager
    def losing_an_answer(self, kind: str) -> Iterator[None]:
        """The next commit in the block is written, but its writer gets an exception.

        ``kind`` is ``exists``, as a store says that retried by itself, or ``io``. The other half is
        LostAnswerLogStore.java.
        """
        assert kind in ("exists", "io")
        order = self._folder / "lost-answer"
        order.write_text(kind)
        try:
            yield
        finally:
            order.unlink(missing_ok=True)

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

    @contextmanager
    def paused(
        self, run: Callable[[], Any], place: str = "before-commit", seconds: float = 180
    ) -> Iterator[Outcome]:
        """Run something in a separate thread, and the block while it waits at a point.

        The block also runs if the thread ends without reaching the point; check ``reached``. After
        the block, the thread finishes, and the outcome is known.
        """
        outcome = Outcome()

        def work() -> None:
            try:
                outcome.result = run()
            except PySparkException as error:
                outcome.error = error

        self.stop_at(place)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            end = time.monotonic() + seconds
            while thread.is_alive() and not self.reached(place):
                assert time.monotonic() < end, f"no run came to {place}"
                thread.join(0.02)
            outcome.reached = self.reached(place)
            if not outcome.reached:
                # The block may reach the point itself, through auto compaction, and nothing would
                # release it.
                self.clear()
            yield outcome
        finally:
            self.clear()
            thread.join()

    def clear(self) -> None:
        """Release everything that waits."""
        for file in self._folder.iterdir():
            if not file.name.endswith(".reached"):
                file.unlink()
        for file in self._folder.iterdir():
            file.unlink()
