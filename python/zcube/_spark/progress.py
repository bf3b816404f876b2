"""A live bar while OPTIMIZE runs."""

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
# GroupDescription.scala describes the jobs so. Small cubes share them.
_JOB = re.compile(
    r", (?:cube (\d+)|cubes (\d+) to \d+) of (\d+)(?:, (\d+) in one job)?, \d+ files, (\d+) bytes"
    r".*: (?:sampling|writing \d+ files)$"
)
# A cube takes three stages: the sample, the shuffle, the files. About so much of the time each.
_WEIGHTS = (0.2, 0.4, 0.4)


@dataclass(frozen=True)
class Stage:
    """A stage of a Spark job.

    Attributes:
        id: stages of a later job have greater ones.
        name: the job's description.
        tasks: how many it has.
        completed: how many of them are done.
    """

    id: int
    name: str
    tasks: int
    completed: int


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        cubes: how many the run makes; 0 as long as that isn't known.
        done: how many of them are written; of a cube that is being written, the share.
        bytes: of the files that were rewritten for it.
    """

    cubes: int
    done: float
    bytes: int


def progress_of(stages: Iterable[Stage]) -> Progress:
    """Add up the stages of one run; those of other work are passed over.

    >>> name = "/t: OPTIMIZE by (x), cube 2 of 4, 9 files, 1000 bytes: sampling"
    >>> progress_of([Stage(1, name, tasks=10, completed=5)])
    Progress(cubes=4, done=0.1, bytes=100)
    """
    cubes, seen = 0, dict[tuple[int, int, int], list[float]]()
    for stage in sorted(stages, key=lambda one: one.id):
        found = _JOB.search(stage.name)
        if found:
            one, first, of, together, size = (int(group or 0) for group in found.groups())
            cubes = of
            share = stage.completed / stage.tasks if stage.tasks else 0.0
            seen.setdefault((one or first, together or 1, size), []).append(share)
    done = {job: _share(shares) for job, shares in seen.items()}
    written = sum(together * share for (_, together, _), share in done.items())
    return Progress(cubes, written, sum(int(size * share) for (*_, size), share in done.items()))


def _share(stages: list[float]) -> float:
    return sum(weight * share for weight, share in zip(_WEIGHTS, stages, strict=False))


@contextmanager
def watched(spark: SparkSession, wanted: bool | None) -> Iterator[None]:
    """Let Ctrl-C stop the OPTIMIZE of the block, and show a bar if there is someone to see it.

    The bar is silent in anything but a terminal or a notebook; unless asked for, also over Spark
    Connect, without ``rich``, and where Spark shows a bar of its own. Over Connect PySpark has to
    see to Ctrl-C.

    Args:
        spark: the session.
        wanted: True, False, or None: if it can be.

    Raises:
        ZCubeError: it is wanted, and ``rich`` is missing or the session is one of Spark Connect.
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
    """Return a bar, or None where none is to be shown."""
    if is_connect(spark):
        if required:
            raise ZCubeError(
                "The progress bar asks Spark in this process, which Spark Connect has not. Leave "
                "progress out; PySpark shows a bar of its own over Connect."
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
    """Ask Spark again and again; failures here never affect the run."""
    stages: dict[int, Stage] = {}
    ended: set[int] = set()
    with suppress(Exception):
        while not over.wait(_SECONDS):
            for one in gateway.stages(spark, tag, ended):
                stages[one[0]] = Stage(*one)
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
