"""What ran where: outcomes that tests record, and the page made of them.

``ZCUBE_COMPATIBILITY=record`` makes `test_table_features.py` write its outcomes to
`tests/results/compatibility.jsonl`; otherwise they must agree with it. With the same variable, the Makefile adds runs
of its targets, if they are whole. ``python -m tests.support.compatibility page`` makes `docs/compatibility.md`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "tests/results/compatibility.jsonl"
PAGE = ROOT / "docs/compatibility.md"
# What a run consists of, and the column that shows it.
PARTS = {
    "scala": "Scala tests",
    "python": "all Python tests",
    "versioned": "rows, layouts, statements",
    "services": "Connect, metastore",
    "install": "installed",
}

INTRODUCTION = """# Compatibility

This page is made from what ran: `tests/results/compatibility.jsonl`. Each jar is for one line of Spark and one of
Delta, such as 4.2 and 4.4. A session with another line does not start, and the error names the right ones. Other patch
releases of a line are accepted, but have no run on record. [Where ZCube runs](places.md) describes clusters, stores and
catalogs.

## Runs on record

The number of tests that passed. An empty field means that there is no run on record.

"""

FEATURES = """
- *Scala tests*: `make test-jvm`, and on other lines than the newest the modules that call Spark.
- *all Python tests*: `make test-python`, which every change must pass.
- *rows, layouts, statements*: the Python tests that concern these (`make python-tests-4.1`).
- *Connect, metastore*: a Spark Connect server and a Hive metastore server (`make services-tests-4.1`).
- *installed*: from the files of a release in an empty environment, by pip and by `--packages` (`make release-trial`).

The runs on record are with Java 17 and 21. Tests ran with Python 3.11; with 3.10, 3.12 and 3.13 only the installed
package was tried. A newer Python isn't rejected. A combination that isn't listed has no run on record. Delta 4.0 to 4.2
are not supported, because the jars call Delta methods that are new in 4.3. With PySpark 4.1 or 4.0, install
`delta-spark==4.3.*`, since pip takes a newer one. Every change is tested with the newest Spark, and by some tests with
the others.

## Table features

For each feature of the Delta protocol a test makes a table, changes it, copies it, and runs Delta's OPTIMIZE on the
copy. *Works* means that ZCube's OPTIMIZE left the same rows, and wrote what Delta's wrote: the same columns in the
files, the same fields in the log, the same table features (`tests/safety/test_table_features.py`).
"""

NOTES = """
*Not supported by Delta* means that this release of Delta, as it comes, can't make or write such a table; the condition
is Delta's.

Catalog-managed tables need a catalog that commits for them. With Delta's in-memory commit coordinator, ZCube's OPTIMIZE
is rejected exactly when Delta's is (`CommitCoordinatorSuite`). UniForm: the files and the log are as Delta's; the
conversion itself, which needs Delta's `delta-iceberg`, is not tested. [Other readers](safety.md) read the tables before
and after (`tests/safety/test_other_readers.py`): DuckDB, deltalake and Delta Kernel.
"""


def recording() -> bool:
    """Whether outcomes are written down instead of compared."""
    return os.environ.get("ZCUBE_COMPATIBILITY") == "record"


def check(spark: str, feature: str, outcome: str) -> None:
    """Record a feature's outcome with a Spark version, or compare it with the recorded one."""
    if recording():
        _append({"feature": feature, "spark": spark, "outcome": outcome})
    else:
        assert outcome == results()[0].get((feature, spark)), (
            "docs/compatibility.md shows another outcome; ZCUBE_COMPATIBILITY=record writes the new one"
        )


def record_run(part: str, spark: str, delta: str, python: str | None, reports: list[Path]) -> None:
    """Record a run of tests, one of `PARTS`, from its JUnit reports.

    ``python`` is the interpreter; one report of ``install`` has the tests of several, by name.
    """
    assert part in PARTS
    cases = [case for report in reports for case in ElementTree.parse(report).iter("testcase")]
    if part == "install":
        cases = [case for case in cases if str(case.get("name")).endswith(f"[{python}]")]
        assert cases, python
    skipped = [case for case in cases if case.find("skipped") is not None]
    assert not any(case.find(end) is not None for case in cases for end in ("failure", "error"))
    suites = sorted({str(case.get("classname")) for case in cases})
    _append(
        {
            "part": part,
            "spark": spark,
            "delta": delta,
            "java": _java(),
            "python": python and _version(python),
            "passed": len(cases) - len(skipped),
            "skipped": len(skipped),
            "suites": suites,
        }
    )


def results() -> tuple[dict[tuple[str, str], str], list[dict[str, Any]]]:
    """The newest outcome of each feature and Spark version, and the newest run of each part."""
    features, runs = {}, {}
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if "feature" in entry:
            features[entry["feature"], entry["spark"]] = entry["outcome"]
        else:
            runs[entry["part"], entry["spark"], entry["delta"], entry["java"], entry["python"]] = (
                entry
            )
    return features, list(runs.values())


def page() -> str:
    """The text of `docs/compatibility.md`."""
    features, runs = results()
    newest = sorted({spark for _, spark in features}, key=_numbers, reverse=True)
    rows = [
        [feature, *(_cell(features.get((feature, spark))) for spark in newest)]
        for feature in dict.fromkeys(feature for feature, _ in features)
    ]
    return "".join(
        [
            INTRODUCTION,
            _table(
                ["Spark", "Delta", "Java", "Python", *PARTS.values()],
                _rows(runs),
            ),
            FEATURES,
            "\n",
            _table(["feature", *(f"Spark {spark}" for spark in newest)], rows),
            NOTES,
        ]
    )


def _rows(runs: list[dict[str, Any]]) -> list[list[str]]:
    """A line for each environment; Scala's tests need no Python."""
    passed: dict[tuple[str, ...], dict[str, str]] = {}
    for run in sorted(runs, key=_order):
        key = (run["spark"], run["delta"], run["java"], run["python"] or "")
        passed.setdefault(key, {})[run["part"]] = str(run["passed"])
    return [[*key, *(parts.get(part, "") for part in PARTS)] for key, parts in passed.items()]


def _cell(outcome: str | None) -> str:
    if outcome is None:
        return "untested"
    text, _, condition = outcome.partition(": ")
    text = "not supported by Delta" if text == "not in this version" else text
    return f"{text}: `{condition}`" if condition else text


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["--"] * len(header), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _order(run: dict[str, Any]) -> Any:
    return (
        [-n for n in _numbers(run["spark"])],
        _numbers(run["java"]),
        _numbers(run["python"] or "0"),
    )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _append(entry: dict[str, Any]) -> None:
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _version(python: str) -> str:
    """An interpreter's version."""
    reported = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
    return reported.stdout.split()[1]


def _java() -> str:
    release = (Path(os.environ["JAVA_HOME"]) / "release").read_text(encoding="utf-8")
    found = re.search(r'^JAVA_VERSION="(.*)"', release, re.MULTILINE)
    assert found, release
    return found[1]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["page"]:
            PAGE.write_text(page(), encoding="utf-8")
        case ["record", "scala", spark, delta, *reports] if reports:
            record_run("scala", spark, delta, None, [Path(report) for report in reports])
        case ["record", "install", spark, delta, report, *pythons] if pythons:
            for interpreter in pythons:
                record_run("install", spark, delta, interpreter, [Path(report)])
        case ["record", part, spark, delta, python, *reports] if reports:
            record_run(part, spark, delta, python, [Path(report) for report in reports])
        case _:
            sys.exit("usage: page | record PART SPARK DELTA [PYTHON] REPORT.xml … [PYTHON …]")
