"""Keeps results of earlier runs when a new run covers only some cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def earlier(saved: Path) -> list[dict]:
    """The runs in a results file, which need not exist."""
    return json.loads(saved.read_text())["runs"] if saved.exists() else []


def with_kept(saved: Path, what: Sequence[str], runs: list[dict]) -> list[dict]:
    """The runs in a results file that the new runs don't replace, and the new runs.

    Args:
        saved: a JSON file with ``runs``; need not exist.
        what: the fields that say what was run.
        runs: the new runs.
    """
    new = {tuple(run[field] for field in what) for run in runs}
    return [run for run in earlier(saved) if tuple(run[field] for field in what) not in new] + runs
