"""Turns JMH's JSON for the per-row kernels into the committed table.

    sbt "benchmarks/Jmh/run -prof gc -rf json -rff /tmp/kernels.json (Hilbert|Interleave|RangeId)"
    python -m benchmarks.kernels /tmp/kernels.json

There are many short iterations, and the fastest counts: on a shared machine, an average measures
the neighbours as well. The median shows how busy the machine was.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import markdown
from benchmarks.machine import processor

RESULTS = Path(__file__).parent / "results"
VERSIONS = {"spark": version("pyspark"), "delta": version("delta-spark")}

ASKED = {
    ("Interleave", "2"): {"delta": 10, "deltaFast": 3},
    ("Interleave", "4"): {"delta": 10, "deltaFast": 3},
    ("Interleave", "8"): {"delta": 10, "deltaFast": 3},
    ("Hilbert", "2x10"): {"delta": 5},
    ("Hilbert", "3x10"): {"delta": 5},
    ("WideHilbert", "4x16"): {"delta": 5},
    ("RangeId", "long"): {"delta": 4},
    ("RangeId", "double"): {"delta": 4},
    ("RangeId", "string"): {"delta": 4},
    ("RangeId", "url"): {"delta": 4},
}
"""The target ratio of Delta's time to ZCube's, by suite, case and Delta's kernel."""


def summary(entry: dict[str, Any]) -> dict[str, Any]:
    """Reduce one benchmark to nanoseconds and bytes allocated for each call."""
    scores = [score for fork in entry["primaryMetric"]["rawData"] for score in fork]
    suite, kernel = entry["benchmark"].split(".")[-2:]
    return {
        "suite": suite.removesuffix("Benchmark"),
        "case": " ".join(entry["params"].values()),
        "kernel": kernel,
        "iterations": len(scores),
        "least_ns": round(min(scores), 2),
        "median_ns": round(statistics.median(scores), 2),
        "bytes": round(entry["secondaryMetrics"]["gc.alloc.rate.norm"]["score"]),
    }


def table(machine: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """Format the summaries as Markdown, with Delta's time over ZCube's and the target ratio."""
    lines = [
        "# Kernels",
        "",
        f"{machine['cpu']}, {machine['cpus']} processors, Java {machine['java']}, "
        f"JMH {machine['jmh']}, Delta {machine['delta']} on Spark {machine['spark']}.",
        "",
        "Nanoseconds for one call: the least of many short iterations, and their median in",
        "brackets. The machine was shared while this ran, which the medians show; the ratio is",
        "that of the least times. `deltaFast` is Delta's kernel behind",
        "`spark.databricks.delta.optimize.zorder.fastInterleaveBits.enabled`, off by default. RangeId",
        "finds the range of a value among 999 bounds, in no order; Delta's is the Spark",
        "RangePartitioner that Delta's own rule plans. The bytes that Interleave and WideHilbert",
        "allocate are the result; url is strings that begin alike.",
        "",
        "| kernel | case | implementation | ns | bytes allocated | Delta's time / ZCube's | target |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    ours = {(r["suite"], r["case"]): r["least_ns"] for r in rows if r["kernel"] == "zcube"}
    missed = []
    for row in rows:
        case = row["suite"], row["case"]
        ratio = row["least_ns"] / ours[case]
        asked = ASKED.get(case, {}).get(row["kernel"])
        if asked is not None and ratio < asked:
            missed.append(f"{' '.join(case)} against {row['kernel']}")
        lines.append(
            f"| {row['suite']} | {row['case']} | {row['kernel']} "
            f"| {row['least_ns']} ({row['median_ns']}) | {row['bytes']} "
            f"| {'' if row['kernel'] == 'zcube' else f'{ratio:.1f}'} "
            f"| {'' if asked is None else asked} |"
        )
    lines += [
        "",
        f"Not reached: {'; '.join(missed)}." if missed else "All targets are met.",
    ]
    return "\n".join(lines) + "\n"


def main(raw: Path) -> None:
    """Write `results/kernels.json` and `results/kernels.md`."""
    entries = json.loads(raw.read_text())
    machine = {
        "cpu": processor(),
        "cpus": os.cpu_count(),
        "java": entries[0]["vmVersion"],
        "jmh": entries[0]["jmhVersion"],
        **VERSIONS,
    }
    rows = [summary(entry) for entry in entries]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "kernels.json").write_text(
        json.dumps({"machine": machine, "kernels": rows}, indent=2) + "\n"
    )
    markdown.write(RESULTS / "kernels.md", table(machine, rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
