"""Results of earlier runs that a new, shorter one leaves as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def earlier(saved: Path) -> list[dict]:
    """The runs of a file of results, which need not be there."""
    return json.loads(saved.read_text())["runs"] if saved.exists() else []


def with_kept(saved: Path, what: Sequence[str], runs: list[dict]) -> list[dict]:
    """The runs of a file of results that were of something else than these new ones, and these.

    Args:
        saved: a JSON file with ``runs``; need not be there.
        what: the fields that say what was run.
        runs: the new runs.
    """
    new = {tuple(run[field] for field in what) for run in runs}
    return [run for run in earlier(saved) if tuple(run[field] for field in what) not in new] + runs
