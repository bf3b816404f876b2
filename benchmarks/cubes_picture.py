"""Draws what the merge policies do: docs/pictures/cubes.png.

A clustered table of 40,000 points gets 32 appends of 2 % each, with an OPTIMIZE after each, once by
the policy ``leveled`` and once by ``all``. The upper charts show the table's ZCubes after each run, from
its log; the lower ones what each run rewrote, and why, from the run's own result.

    python -m benchmarks.cubes_picture [--output docs/pictures/cubes.png]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import zcube
from matplotlib.patches import Patch
from pyspark.sql import SparkSession
from zcube.plots.chart import BLUE, GREEN, ORANGE

from benchmarks.session import MAX_FILE_SIZE, SHUFFLE_PARTITIONS, SNAPSHOT_PARTITIONS, scratch
from tests.support.log_replay import LiveFile, live_files

SETTINGS_OF_SPARK = {
    SHUFFLE_PARTITIONS: 2,
    SNAPSHOT_PARTITIONS: 2,
    MAX_FILE_SIZE: 16 << 10,
}
APPENDS, ROWS, SHARE = 32, 40_000, 0.02
FIRST, OTHER, EDGE = BLUE, ORANGE, "white"
REASONS = {"fresh": GREEN, "other cube": OTHER, "largest cube": FIRST}


def stream(spark: SparkSession, table: str, policy: str) -> tuple[list, list]:
    """Sizes of the cubes after each run, and bytes rewritten by reason in each run."""

    def points(start: int, count: int):
        return spark.range(start, start + count, 1, 1).selectExpr(
            "hash(id) x", "hash(id, 1) y", "id"
        )

    points(0, ROWS).write.format("delta").clusterBy("x", "y").save(table)
    clustered = zcube.ClusteredTable.for_path(spark, table)
    clustered.optimize()
    cubes, rewritten = [], []
    more = int(ROWS * SHARE)
    for number in range(APPENDS):
        points(ROWS + number * more, more).write.format("delta").mode("append").save(table)
        before = live_files(table)
        clustered.optimize(merge_policy=policy)
        after = live_files(table)
        largest = max(sizes_of(before), key=sizes_of(before).__getitem__)
        by_reason: dict[str, float] = defaultdict(float)
        for file in set_minus(before, after):
            cube = file.tags.get("ZCUBE_ID")
            kind = "fresh" if cube is None else "largest cube" if cube == largest else "other cube"
            by_reason[kind] += file.size
        cubes.append(sorted(sizes_of(after).values(), reverse=True))
        rewritten.append(by_reason)
    return cubes, rewritten


def sizes_of(files: list[LiveFile]) -> dict[str, int]:
    """Bytes of each cube."""
    sizes: dict[str, int] = defaultdict(int)
    for file in files:
        if "ZCUBE_ID" in file.tags:
            sizes[file.tags["ZCUBE_ID"]] += file.size
    return sizes


def set_minus(before: list[LiveFile], after: list[LiveFile]) -> list[LiveFile]:
    """The files that a run removed."""
    left = {file.path for file in after}
    return [file for file in before if file.path not in left]


def draw(runs: dict[str, tuple[list, list]], output: Path) -> None:
    mib = 2.0**20
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.4), sharex=True, sharey="row")
    for column, (policy, (cubes, rewritten)) in enumerate(runs.items()):
        upper, lower = axes[0][column], axes[1][column]
        for number, sizes in enumerate(cubes, 1):
            bottom = 0.0
            for place, size in enumerate(sizes):
                upper.bar(
                    number, size / mib, 0.9, bottom, edgecolor=EDGE, linewidth=0.5,
                    color=FIRST if place == 0 else OTHER,
                )  # fmt: skip
                bottom += size / mib
        for number, by_reason in enumerate(rewritten, 1):
            bottom = 0.0
            for reason, colour in REASONS.items():
                lower.bar(number, by_reason[reason] / mib, 0.9, bottom, color=colour)
                bottom += by_reason[reason] / mib
        total = sum(sum(r.values()) for r in rewritten)
        # The table grew by its last size less its first.
        grown = (sum(cubes[-1]) - sum(cubes[0])) * APPENDS / (APPENDS - 1)
        upper.set_title(f"policy {policy}: {total / grown:.1f} bytes rewritten for each appended")
        lower.set_xlabel("append, each 2 % of the table, and OPTIMIZE after it")
    axes[0][0].set_ylabel("ZCubes of the table, MiB")
    axes[1][0].set_ylabel("rewritten by the run, MiB")
    axes[0][0].legend(
        handles=[
            Patch(color=FIRST, label="largest cube"),
            Patch(color=OTHER, label="each other cube"),
        ],
        loc="lower left",
    )
    axes[1][0].legend(
        handles=[Patch(color=c, label=r) for r, c in REASONS.items()], title="files of",
        loc="upper left",
    )  # fmt: skip
    figure.tight_layout()
    figure.savefig(output, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/pictures/cubes.png"))
    options = parser.parse_args()
    with scratch(SETTINGS_OF_SPARK) as (spark, folder):
        runs = {p: stream(spark, str(folder / p), p) for p in ("leveled", "all")}
    draw(runs, options.output)


if __name__ == "__main__":
    main()
