"""The rectangle of ship dates and part keys that each file of a table spans, from Delta's log."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from zcube.demo.queries import Box


def file_boxes(table: Path) -> list[Box]:
    """Replay the log of a young table, one whose commits are all still there."""
    alive: dict[str, Box] = {}
    for commit in sorted((table / "_delta_log").glob("[0-9]*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            if "remove" in action:
                alive.pop(action["remove"]["path"], None)
            elif "add" in action:
                alive[action["add"]["path"]] = _box(json.loads(action["add"]["stats"]))
    return list(alive.values())


def overlaps(one: Box, other: Box) -> bool:
    """Whether two rectangles share a point."""
    return (
        one.dates[0] <= other.dates[1]
        and other.dates[0] <= one.dates[1]
        and one.parts[0] <= other.parts[1]
        and other.parts[0] <= one.parts[1]
    )


def _box(stats: dict[str, dict[str, str | int]]) -> Box:
    low, high = stats["minValues"], stats["maxValues"]
    return Box(
        (date.fromisoformat(str(low["l_shipdate"])), date.fromisoformat(str(high["l_shipdate"]))),
        (int(low["l_partkey"]), int(high["l_partkey"])),
    )
