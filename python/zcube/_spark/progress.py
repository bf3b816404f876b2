"""A live progress bar for OPTIMIZE."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zcube._spark import gateway
from zcube._spark.connect import is_connect
from zcube._version import __version__
from zcube.errors import ZCubeError

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
        ZCubeError: a bar is wanted, and ``rich`` is missing, the session uses Spark Connect, or its
            jar is too old.
    """
    bar = None if wanted is False else _bar(spark, required=wanted is True)
    if is_connect(spark):
        yield
        return
    with ExitStack() as stack, gateway.stoppable(spark) as tag:
        progress = None if bar is None else _progress(spark, tag, stack, required=wanted is True)
        task = None if progress is None else _started(bar, required=wanted is True)
        if bar is None or progress is None or task is None:
            yield
            return
        over = threading.Event()
        watch = threading.Thread(
            target=_watch, args=(progress, bar, task, over), name="zcube-progress", daemon=True
        )
        watch.start()
        try:
            yield
            with suppress(Exception):
                _fill(bar, task, progress)
        finally:
            over.set()
            watch.join(timeout=5)
            with suppress(Exception):
                bar.stop()


def _started(bar: Any, *, required: bool) -> Any:
    """Show the bar and return its task; None if it can't be shown, and no bar is required."""
    try:
        bar.start()
        return bar.add_task("OPTIMIZE", total=None, cubes="planning", size="")
    except Exception:
        with suppress(Exception):
            bar.stop()
        if required:
            raise
        return None


def _progress(
    spark: SparkSession, tag: str, stack: ExitStack, *, required: bool
) -> gateway.RewriteProgress | None:
    """Follow the run from its beginning; None if the jar can't, and no bar is required."""
    try:
        return stack.enter_context(gateway.rewrite_progress(spark, tag))
    except Exception as error:
        if required:
            raise ZCubeError(
                f"There can't be a progress bar: {error}. Is this session's jar that of ZCube "
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
    console = Console(stderr=True)
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
    return r.Progress(*columns, console=console)


def _watch(progress: gateway.RewriteProgress, bar: Any, task: Any, over: threading.Event) -> None:
    """Poll Spark; failures here never affect the run."""
    with suppress(Exception):
        while not over.wait(_SECONDS):
            _update(bar, task, *progress())


def _update(bar: Any, task: Any, cubes: int, done: float, size: int) -> None:
    if cubes:
        elapsed = bar.tasks[0].elapsed or 1.0
        bar.update(
            task,
            total=cubes,
            completed=done,
            cubes=f"{int(done + 1e-6)} of {cubes} cubes written",
            size=f"{size / 1e6:.1f} MB, {size / 1e6 / elapsed:.1f} MB/s",
        )


def _fill(bar: Any, task: Any, progress: gateway.RewriteProgress) -> None:
    """Show the end of a run, although Spark's last events may not be here yet."""
    cubes, _, size = progress()
    _update(bar, task, cubes, cubes, size)
    if not cubes:
        bar.update(task, total=1, completed=1, cubes="done")
