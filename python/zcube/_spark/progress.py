"""A live progress bar for OPTIMIZE."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zcube._messages import first_line
from zcube._spark import gateway
from zcube._spark.connect import is_connect
from zcube._version import __version__
from zcube.errors import ZCubeError
from zcube.results import formatting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 0.3


@contextmanager
def watched(spark: SparkSession, wanted: bool | None) -> Iterator[None]:
    """Let Ctrl-C stop the OPTIMIZE in the block, and show a progress bar if possible.

    There is no bar outside a terminal or a notebook. Unless ``wanted`` is True, there is also none
    over Spark Connect, without ``rich``, and where Spark shows its own bar. Over Connect, PySpark
    handles Ctrl-C.

    Args:
        spark: the session.
        wanted: True, False, or None for a bar if possible.

    Raises:
        ZCubeError: a bar is wanted, and ``rich`` is missing, the session uses Spark Connect, its
            jar is too old, or the terminal can't be written to.
    """
    bar = None if wanted is False else _bar(spark, required=wanted is True)
    if is_connect(spark):
        yield
        return
    # The bar is stopped last, after the jobs of a stopped run were cancelled: a terminal may block.
    with ExitStack() as stack, gateway.stoppable(spark) as tag:
        progress = None if bar is None else _progress(spark, tag, stack, required=wanted is True)
        if bar is None or progress is None:
            yield
            return
        watch = _Watch(bar, progress)
        stack.callback(watch.close)
        watch.start(required=wanted is True)
        yield
        watch.finish()


class _Watch:
    """Polls Spark and draws a bar; what fails here never affects the run."""

    def __init__(self, bar: Any, progress: gateway.RewriteProgress) -> None:
        self._bar = bar
        self._progress = progress
        self._task: Any = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="zcube-progress", daemon=True)

    def start(self, *, required: bool) -> None:
        """Show the bar.

        Raises:
            ZCubeError: it can't be shown, but is required.
        """
        try:
            self._bar.start()
            self._task = self._bar.add_task("OPTIMIZE", total=None, cubes="planning", size="")
            self._thread.start()
        except Exception as error:
            if required:
                why = first_line(error)
                raise ZCubeError(
                    f"The progress bar can't be shown: {why}. Leave progress out."
                ) from error
            self.close()

    def finish(self) -> None:
        """Show the end of a run, although Spark's last events may not be here yet."""
        self._end_polling()
        with suppress(Exception):
            self._draw()
        with suppress(Exception):
            self._bar.update(self._task, total=1, completed=1, cubes="done")

    def close(self) -> None:
        """Remove the bar from the terminal, or leave it there as it is."""
        try:
            self._end_polling()
        finally:
            with suppress(Exception):
                self._bar.stop()

    def _end_polling(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _poll(self) -> None:
        with suppress(Exception):
            while not self._over.wait(_SECONDS):
                self._draw()

    def _draw(self) -> None:
        cubes, done, size = self._progress()
        if cubes:
            elapsed = self._bar.tasks[0].elapsed or 1.0
            self._bar.update(
                self._task,
                total=cubes,
                completed=done,
                cubes=f"{int(done + 1e-6)} of {cubes} cubes written",
                size=f"{formatting.size(size)}, {formatting.size(int(size / elapsed))}/s",
            )


def _progress(
    spark: SparkSession, tag: str, stack: ExitStack, *, required: bool
) -> gateway.RewriteProgress | None:
    """Follow the run from its beginning; None if the jar can't, and no bar is required."""
    try:
        return stack.enter_context(gateway.rewrite_progress(spark, tag))
    except Exception as error:
        if required:
            why = first_line(error)
            raise ZCubeError(
                f"There can't be a progress bar: {why}. Is this session's jar that of ZCube "
                f"{__version__}? Use the jar of this package, or leave progress out."
            ) from error
        return None


def _bar(spark: SparkSession, *, required: bool) -> Any:
    """Return a bar, or None if none should be shown."""
    if is_connect(spark):
        if required:
            raise ZCubeError(
                "The progress bar needs Spark in this process, but this is Spark Connect. Leave "
                "progress out; PySpark shows its own bar over Connect."
            )
        return None
    try:
        from rich import progress as r
        from rich.console import Console
    except ImportError as error:
        if required:
            raise ZCubeError("The bar needs rich: pip install 'zcube[progress]'.") from error
        return None

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            # The original redirects standard output to nowhere, and ends the process.
            self.quiet = True

    console = Terminal(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    if console.is_jupyter and find_spec("ipywidgets") is None:
        if required:
            raise ZCubeError("In a notebook the bar needs ipywidgets: pip install ipywidgets.")
        return None
    if not required and spark.conf.get("spark.ui.showConsoleProgress", "false") == "true":
        return None
    columns = (
        r.TextColumn("{task.description}"),
        r.BarColumn(),
        r.TextColumn("{task.fields[cubes]}"),
        r.TextColumn("{task.fields[size]}"),
        r.TimeElapsedColumn(),
        r.TextColumn("left"),
        r.TimeRemainingColumn(),
    )
    # What is printed meanwhile isn't this console's business, which may be closed.
    return r.Progress(*columns, console=console, redirect_stdout=False, redirect_stderr=False)
