"""The commits of a Delta log, as DESCRIBE HISTORY lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zcube._log import actions
from zcube._log.actions import NotServedError

_ENABLED = "delta.enableInCommitTimestamps"
_ENABLEMENT = (
    "delta.inCommitTimestampEnablementVersion",
    "delta.inCommitTimestampEnablementTimestamp",
)
# The end of the year 9999.
_MAX_MILLISECONDS = 253_402_300_799_999


def commits(
    log: Path, version: int, properties: Mapping[str, str], max_count: int | None = None
) -> list[dict[str, Any]]:
    """Return what the commits up to a version say of themselves, the newest first.

    Each has its ``version``, taken from the file's name, and a ``timestamp`` in milliseconds since
    1970; a commit need not say more.

    Args:
        log: its folder.
        version: the newest.
        properties: of the table in that version.
        max_count: how many versions at most.

    Raises:
        NotServedError: the properties contradict each other.
        ValueError: a commit's time isn't where the properties say, or is malformed.
    """
    numbers = sorted(
        int(match[1])
        for path in log.iterdir()
        if (match := re.fullmatch(r"(\d{20})\.json", path.name)) and int(match[1]) <= version
    )
    # As Delta does, count versions and not files.
    first = 0 if max_count is None else version - max_count + 1
    switch = _first_with_own_time(properties)
    found: list[dict[str, Any]] = []
    for number in numbers:
        if number < first:
            continue
        file = log / f"{number:020d}.json"
        info = _info(file)
        if switch is not None and number >= switch:
            time = _checked(info.get("inCommitTimestamp"), number)
        else:
            time = _file_time(file, found[-1]["timestamp"] if found else None)
        found.append({**info, "timestamp": time, "version": number})
    return found[::-1]


def _file_time(file: Path, before: int | None) -> int:
    """Return when a commit was written; Delta makes it later than the commit ``before``."""
    # The commit says when its writer began it, which Delta replaces.
    time = file.stat().st_mtime_ns // 1_000_000
    return time if before is None else max(time, before + 1)


def _first_with_own_time(properties: Mapping[str, str]) -> int | None:
    """Return the first version whose commit has its time inside; None if they are the files'."""
    if properties.get(_ENABLED, "").lower() != "true":
        return None
    given = [properties[key] for key in _ENABLEMENT if key in properties]
    if len(given) == 1:
        raise NotServedError(f"a table that sets only one of {' and '.join(_ENABLEMENT)}")
    return int(given[0]) if given else 0


def _info(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for action in actions.commit(file):
        found |= action.get("commitInfo") or {}
    if "timestamp" in found:
        # Delta replaces it, but reads it first.
        _checked(found["timestamp"], int(file.stem))
    return found


def _checked(time: Any, version: int) -> int:
    if isinstance(time, bool) or not isinstance(time, int) or abs(time) > _MAX_MILLISECONDS:
        raise ValueError(f"commit {version} has the time {time!r}")
    return time
