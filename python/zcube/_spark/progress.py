"""A live progress bar for OPTIMIZE."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from zcube._spark import gateway
from zcube._spark.connect import is_connect
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 0.3
# The format of job descriptions in GroupDescription.scala. Small cubes share jobs.
_JOB = re.compile(
    r", (?:cube (\d+)|cubes (\d+) to \d+) of (\d+)(?:, (\d+) in one job)?, \d+ files, (\d+) bytes"
    r".*: (?:sampling|writing \d+ files)$"
)
# A cube takes three stages: the sample, the shuffle, the files. Their approximate shares of time.
_WEIGHTS = (0.2, 0.4, 0.4)


@dataclass(frozen=True)
class Stage:
    """A stage of a Spark job.

    Attributes:
        id: stages of later jobs have larger ids.
        name: the job's description.
        tasks: the number of its tasks.
        completed: the number of completed tasks.
    """

    id: int
    name: str
    tasks: int
    completed: int


@dataclass(frozen=True)
class Progress:
    """The progress of a run.

    Attributes:
        cubes: how many cubes the run makes; 0 while unknown.
        done: how many of them are written; a cube in progress counts with its fraction.
        bytes: bytes of the files rewritten so far.
    """

    cubes: int
    done: float
    bytes: int


def progress_of(stages: Iterable[Stage]) -> Progress:
    """Add up the stages of one run, ignoring those of other work.

    >>> name = "/t: OPTIMIZE by (x), cube 2 of 4, 9 files, 1000 bytes: sampling"
    >>> progress_of([Stage(1, name, tasks=10, completed=5)])
    Progress(cubes=4, done=0.1, bytes=100)
    """
    cubes, seen = 0, dict[tuple[int, int, int], list[float]]()
    for stage in sorted(stages, key=lambda stage: stage.id):
        found = _JOB.search(stage.name)
        if found:
            single, first, of, together, size = (int(group or 0) for group in found.groups())
            cubes = of
            share = stage.completed / stage.tasks if stage.tasks else 0.0
            seen.setdefault((single or first, together or 1, size), []).append(share)
    done = {job: _share(shares) for job, shares in seen.items()}
    written = sum(together * share for (_, together, _), share in done.items())
    return Progress(cubes, written, sum(int(size * share) for (*_, size), share in done.items()))


def _share(stages: list[float]) -> float:
    return sum(weight * share for weight, share in zip(_WEIGHTS, stages, strict=False))


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
        ZCubeError: a bar is wanted, and ``rich`` is missing or the session uses Spark Connect.
    """
    bar = None if wanted is False else _bar(spark, required=wanted is True)
    if is_connect(spark):
        yield
        return
    with gateway.stoppable(spark) as tag, bar or nullcontext():
        if bar is None:
            yield
            return
        task = bar.add_task("OPTIMIZE", total=None, cubes="planning", size="")
        over = threading.Event()
        watch = threading.Thread(
            target=_watch, args=(spark, tag, bar, task, over), name="zcube-progress", daemon=True
        )
        watch.start()
        try:
            yield
            total = bar.tasks[0].total or 1
            bar.update(task, total=total, completed=total)
        finally:
            over.set()
            watch.join(timeout=5)


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


def _watch(spark: SparkSession, tag: str, bar: Any, task: Any, over: threading.Event) -> None:
    """Poll Spark; failures here never affect the run."""
    stages: dict[int, Stage] = {}
    ended: set[int] = set()
    with suppress(Exception):
        while not over.wait(_SECONDS):
            for stage in gateway.stages(spark, tag, ended):
                stages[stage[0]] = Stage(*stage)
            now = progress_of(stages.values())
            if now.cubes:
                elapsed = bar.tasks[0].elapsed or 1.0
                bar.update(
                    task,
                    total=now.cubes,
                    completed=now.done,
                    cubes=f"{int(now.done + 1e-6)} of {now.cubes} cubes written",
                    size=f"{now.bytes / 1e6:.1f} MB, {now.bytes / 1e6 / elapsed:.1f} MB/s",
                )
