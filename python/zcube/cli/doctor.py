"""``zcube doctor``: checks this machine and a session for problems."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zcube._messages import first_line
from zcube._spark import connect, launch
from zcube._sql import quoting
from zcube.cli.arguments import Commands, add_spark_options, start_session
from zcube.cli.output import show
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = (17, 21)
_SWITCH = "spark.zcube.enabled"
# Answered by the jar's classes.
_PROBE, _ANSWER = "SELECT hilbert_index(2, 2, 0)", 14


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        subject: what was checked.
        found: its state.
        problem: what is wrong and what to do; empty if nothing is wrong.
        warning: what doesn't keep ZCube from working, and what to do; usually empty.
    """

    subject: str
    found: str
    problem: str = ""
    warning: str = ""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add(
        "doctor",
        "check Spark, Delta, Java, extensions and settings, and report problems",
        "zcube doctor --master local[1]; zcube doctor --no-session",
    )
    add_spark_options(command).add_argument(
        "--no-session", action="store_true", help="don't start Spark; check only what is installed"
    )
    command.add_argument("--json", action="store_true", help="print the findings as JSON")

    def run(options: argparse.Namespace) -> int:
        findings = list(_examine(options))
        if options.json:
            show(json.dumps([asdict(finding) for finding in findings]))
        else:
            for finding in findings:
                show(f"{'!' if finding.problem else ' '} {finding.subject}: {finding.found}")
                if finding.problem:
                    show(f"    {finding.problem}")
                if finding.warning:
                    show(f"    warning: {finding.warning}")
        return 1 if any(finding.problem for finding in findings) else 0

    command.set_defaults(run=run)


def _examine(options: argparse.Namespace) -> Iterator[Finding]:
    settings = dict(options.conf)
    if options.remote:
        settings["spark.remote"] = options.remote
    if connect.names_server(settings):
        # Java, Delta and the jar are on the server.
        installed = list(_packages())
    else:
        given, lacking = _lacking(settings)
        installed = [*_packages(), *_jars(lacking), _java(), given]
    yield from installed
    if options.no_session:
        return
    if any(finding.problem for finding in installed):
        yield Finding("session", "not started: fix the problems above first")
        return
    try:
        with start_session(options) as spark:
            yield from _in_session(spark)
    except Exception as error:
        # Any error that keeps Spark from starting is a finding.
        yield Finding("session", "fails", _summary(error))


def _summary(error: Exception) -> str:
    """Return an error's first line, without secrets that a URL may contain."""
    line = first_line(error)
    return re.sub(r"(token|password|secret)=[^;&\s'\"]*", r"\1=…", line, flags=re.IGNORECASE)


def _lacking(settings: dict[str, str]) -> tuple[Finding, set[str]]:
    """Check what an application would lack that doesn't call ``zcube.configure``."""
    from zcube._spark.versions import spark_line
    from zcube.session import check_delta, extension_settings, jar_settings

    subject = "spark-defaults.conf and --conf"
    try:
        given = {**launch.default_settings(), **launch.submit_settings(), **settings}
    except ImportError as error:
        return Finding(subject, f"can't be read: {_summary(error)}"), set()
    except (OSError, ZCubeError) as error:
        return Finding(subject, "can't be read", _summary(error)), set()
    missing = {**jar_settings(given, str, str), **extension_settings(given)}
    text = f"missing {', '.join(missing)} (zcube.configure adds them)" if missing else "complete"
    try:
        line = spark_line()
    except (ImportError, ZCubeError):
        return Finding(subject, text), set(missing)  # that is a finding of its own
    problem = ""
    try:
        check_delta(given, line)
    except ZCubeError as error:
        problem = str(error)
    return Finding(subject, text, problem), set(missing)


def _packages() -> Iterator[Finding]:
    from zcube._spark.versions import spark_line, versions

    known = versions()
    yield Finding("zcube", known["zcube"])
    yield Finding("Python", sys.version.split()[0])
    problem = ""
    try:
        spark_line()
    except (ImportError, ZCubeError) as error:
        absent = known["pyspark"] == "not installed"
        problem = "pip install pyspark" if absent else str(error)
    yield Finding("PySpark", known["pyspark"], problem)


def _jars(lacking: set[str]) -> Iterator[Finding]:
    """Check where the jars come from; explicitly given jars need neither package nor wheel."""
    from zcube._spark.versions import delta_version, package_mismatch, spark_line, versions
    from zcube.session import JARS, PACKAGES

    known = versions()
    problem = warning = ""
    if PACKAGES in lacking:
        try:
            delta_version(spark_line())
            # pip installs it for an older PySpark too, and zcube.configure takes the right jar.
            warning = package_mismatch(spark_line())
        except (ImportError, ZCubeError) as error:
            problem = _summary(error)
    yield Finding("delta-spark", known["delta-spark"], problem, warning)
    missing = JARS in lacking and not Path(known["jar"]).is_file()
    yield Finding("jar", known["jar"], known["jar"] if missing else "")


def _java() -> Finding:
    """Check the Java that Spark will start."""
    wanted = f"Install Java {JAVA[0]} or {JAVA[1]}, and set JAVA_HOME to it or put it on PATH."
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin/java") if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        return Finding("Java", f"none at {java}" if java else "none", wanted)
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("Java", f"{java} doesn't run: {_summary(error)}", wanted)
    version = re.search(r'version "(\d+)', done.stderr)
    if version is None:
        return Finding("Java", f"{java} doesn't report its version", wanted)
    return Finding("Java", f"{version[1]}, {java}", "" if int(version[1]) in JAVA else wanted)


def _in_session(spark: SparkSession) -> Iterator[Finding]:
    from zcube.session import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, ZCUBE_EXTENSION

    yield Finding("session", f"Spark {spark.version}")
    try:
        answer = spark.sql(_PROBE).collect()[0][0]
        problem = "" if answer == _ANSWER else f"{_PROBE} returns {answer}, not {_ANSWER}"
        yield Finding("ZCube's functions", "wrong result" if problem else "available", problem)
    except Exception as error:
        problem = _summary(error)
        yield Finding("ZCube's functions", "unavailable", problem)
    extensions = spark.conf.get(EXTENSIONS, "") or ""
    entries = [entry.strip() for entry in extensions.split(",") if entry.strip()]
    for name in (DELTA_EXTENSION, ZCUBE_EXTENSION):
        if name in entries:
            yield Finding(name, "on")
        elif problem:
            yield Finding(name, "missing from the extensions", f"Add {name} to {EXTENSIONS}.")
        else:
            # A server may hide its settings, and another class may include this extension.
            yield Finding(name, "not listed in the extensions, but ZCube responds")
    catalog = spark.conf.get(CATALOG, "") or ""
    if catalog == "builtin":  # Spark's name for its own
        catalog = ""
    remedy = f"Set {CATALOG} to {DELTA_CATALOG}"
    if catalog:
        other = f"{remedy}, unless this class includes it." if catalog != DELTA_CATALOG else ""
        yield Finding(CATALOG, catalog, warning=other)
    else:
        # A server that hides its settings may have one.
        unset = DELTA_EXTENSION in entries or bool(problem)
        yield Finding(CATALOG, "unset" if unset else "unknown", f"{remedy}." if unset else "")
    yield from _settings(spark)


def _settings(spark: SparkSession) -> Iterator[Finding]:
    """Check the ZCube settings that are set; some may be misspelled."""
    known = {row.key for row in spark.sql("SET -v").collect()}
    made = spark.conf.getAll
    for key in sorted(key for key in made if key.startswith("spark.zcube.")):
        unknown = "" if key in known else "There is no such setting; see docs/reference.md."
        off = key == _SWITCH and not quoting.switch(spark, key, default=True)
        meaning = ": OPTIMIZE and MERGE are Delta's own" if off else ""
        yield Finding(key, made[key] + meaning, unknown)
