"""Turns JMH's JSON of the curve kernels into the committed table.

    sbt "benchmarks/Jmh/run -prof gc -rf json -rff /tmp/kernels.json"
    python -m benchmarks.kernels /tmp/kernels.json

The iterations are short and many, and the least of them counts: on a shared machine an average
measures the neighbours as well. The median stands beside it to show how busy the machine was.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
VERSIONS = {"spark": "4.2.0", "delta": "4.4.0"}


def processor() -> str:
    """Return the processor's model name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


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
    """Lay the summaries out as Markdown, Delta's time over ZCube's in the last column."""
    lines = [
        "# Curve kernels",
        "",
        f"{machine['cpu']}, {machine['cpus']} processors, Java {machine['java']}, "
        f"JMH {machine['jmh']}, Delta {machine['delta']} on Spark {machine['spark']}.",
        "",
        "Nanoseconds for one call: the least of many short iterations, and their median in",
        "brackets. The machine was shared while this ran, which the medians show; the ratio is",
        "that of the least times.",
        "",
        "| kernel | case | implementation | ns | bytes allocated | Delta's time / ZCube's |",
        "|---|---|---|---:|---:|---:|",
    ]
    ours = {(r["suite"], r["case"]): r["least_ns"] for r in rows if r["kernel"] == "zcube"}
    for row in rows:
        ratio = row["least_ns"] / ours[row["suite"], row["case"]]
        lines.append(
            f"| {row['suite']} | {row['case']} | {row['kernel']} "
            f"| {row['least_ns']} ({row['median_ns']}) | {row['bytes']} "
            f"| {'' if row['kernel'] == 'zcube' else f'{ratio:.1f}'} |"
        )
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
    (RESULTS / "kernels.md").write_text(table(machine, rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
