"""Check, sign and pack a release before publication: ``make release``.

The jars of all Spark lines are in ``dist/maven``, in the layout of a Maven repository; wheel and
sdist are in ``dist``. The script lists all problems at once and exits with code 1. If there are
none, it writes ``dist/zcube-VERSION-maven.zip``, the bundle for a Maven repository. It signs each
file with GnuPG if there is a secret key; the variable ``GPG_KEY`` selects one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from pathlib import Path

from zcube import __version__
from zcube._spark.versions import SPARK_LINES

ROOT = Path(__file__).resolve().parents[1]
POM = "{http://maven.apache.org/POM/4.0.0}"
REQUIRED = (
    "name", "description", "url", "licenses/license/name", "licenses/license/url",
    "developers/developer/name", "scm/url", "scm/connection",
)  # fmt: skip
COORDINATES = ("groupId", "artifactId", "version")
LEGAL = ("LICENSE", "NOTICE")
CHECKSUMS = ("md5", "sha1")
BUILT_FOR = "io/zcube/sql/versions.properties"


def changelog_problems(release: str, text: str) -> Iterator[str]:
    """Check that the changelog has a dated entry for the release."""
    if not re.search(rf"^## {re.escape(release)} \(\d{{4}}-\d\d-\d\d\)$", text, re.MULTILINE):
        yield f"CHANGELOG.md has no heading '## {release} (YYYY-MM-DD)'"


def pom_problems(pom: Path) -> Iterator[str]:
    """Check a pom for what public repositories require, and for what would break dependents."""
    project = ElementTree.parse(pom).getroot()
    named = ":".join(project.findtext(POM + name) or "" for name in COORDINATES)
    folder = pom.parent
    if named != f"io.zcube:{folder.parent.name}:{folder.name}":
        yield f"{pom.name} is of {named}"
    for name in REQUIRED:
        if not (project.findtext("/".join(POM + part for part in name.split("/"))) or "").strip():
            yield f"{pom.name} has no {name}"
    for dependency in project.iter(f"{POM}dependency"):
        group, artifact, scope = (
            dependency.findtext(POM + name) or "" for name in ("groupId", "artifactId", "scope")
        )
        if group == "io.zcube":
            yield f"{pom.name} depends on {artifact}, which is in the jar already"
        if group in ("org.apache.spark", "io.delta") and scope != "provided":
            yield f"{pom.name} would bring {artifact}, which the cluster has"


def address_problems(pom: Path) -> Iterator[str]:
    """Check that the pom has the project's URL."""
    if ".invalid" in pom.read_text(encoding="utf-8"):
        yield f"{pom.name} names no real address: make release PROJECT_URL=…"


def jar_problems(folder: Path, stem: str) -> Iterator[str]:
    """Check the contents of each of the three jars."""
    legal = [f"META-INF/{name}" for name in LEGAL]
    wanted = {
        f"{stem}.jar": (
            *legal,
            "io/zcube/sql/ZCubeSparkSessionExtension.class",
            "io/zcube/range/LongRangeBounds.class",
        ),
        f"{stem}-sources.jar": (*legal, "io/zcube/range/LongRangeBounds.scala"),
        f"{stem}-javadoc.jar": (
            *legal,
            "index.html",
            "io/zcube/sql/ZCubeSparkSessionExtension.html",
        ),
    }
    for jar, entries in wanted.items():
        if not (folder / jar).is_file():
            yield f"{jar} is missing"
            continue
        with zipfile.ZipFile(folder / jar) as archive:
            held = set(archive.namelist())
        yield from (f"{jar} has no {entry}" for entry in entries if entry not in held)
        yield from (
            f"{jar} has {entry}, which is Spark's or Delta's"
            for entry in sorted(held)
            if re.match(r"(org/apache/spark/sql/SparkSession|io/delta/)", entry)
        )


def line_problems(jar: Path, line: str) -> Iterator[str]:
    """Check the Spark line that a jar was built for; another line's jar would not start."""
    if jar.is_file():
        with zipfile.ZipFile(jar) as archive:
            told = archive.read(BUILT_FOR).decode() if BUILT_FOR in archive.namelist() else ""
        if f"spark={line}" not in told.split():
            yield f"{jar.name} was not built for Spark {line}"


def checksum_problems(folder: Path, names: list[str]) -> Iterator[str]:
    """Check that the checksums next to a file match it."""
    for name in names:
        for kind in CHECKSUMS:
            sums = folder / f"{name}.{kind}"
            if not sums.is_file():
                yield f"{sums.name} is missing"
            elif (
                sums.read_text().split()[0]
                != hashlib.new(kind, (folder / name).read_bytes()).hexdigest()
            ):
                yield f"{sums.name} is of another file"


def python_problems(dist: Path) -> Iterator[str]:
    """Check that wheel and sdist contain licence, notice and the jars of all lines."""
    wheel = dist / f"zcube-{__version__}-py3-none-any.whl"
    sdist = dist / f"zcube-{__version__}.tar.gz"
    jars = [f"zcube/jars/zcube-spark_{line}_2.13-{__version__}.jar" for line in SPARK_LINES]
    held: dict[Path, set[str]] = {}
    if wheel.is_file():
        with zipfile.ZipFile(wheel) as archive:
            held[wheel] = set(archive.namelist())
    if sdist.is_file():
        with tarfile.open(sdist) as files:
            held[sdist] = set(files.getnames())
    root, info = f"zcube-{__version__}", f"zcube-{__version__}.dist-info"
    wanted = {
        wheel: [*jars, "zcube/py.typed", *(f"{info}/licenses/{name}" for name in LEGAL)],
        sdist: [f"{root}/{name}" for name in (*jars, "pyproject.toml", *LEGAL)],
    }
    for file, entries in wanted.items():
        if file not in held:
            yield f"{file.name} is missing"
            continue
        yield from (f"{file.name} has no {entry}" for entry in entries if entry not in held[file])
    if len(held) == len(wanted):
        check = [sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)]
        done = subprocess.run(check, capture_output=True, text=True)
        if done.returncode:
            yield f"twine: {done.stdout}{done.stderr}"


def problems(dist: Path, *, staging: bool) -> Iterator[str]:
    """Return all problems; a staged release needs no date and no address."""
    if not staging:
        changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        yield from changelog_problems(__version__, changes)
    for line in SPARK_LINES:
        module = f"zcube-spark_{line}_2.13"
        folder, stem = dist / "maven/io/zcube" / module / __version__, f"{module}-{__version__}"
        pom = folder / f"{stem}.pom"
        if not pom.is_file():
            yield f"{pom.name} is missing"
            continue
        yield from pom_problems(pom)
        if not staging:
            yield from address_problems(pom)
        yield from jar_problems(folder, stem)
        yield from line_problems(folder / f"{stem}.jar", line)
        published = [
            file.name for file in sorted(folder.iterdir()) if file.suffix in (".jar", ".pom")
        ]
        yield from checksum_problems(folder, published)
    yield from python_problems(dist)


def signing_key() -> list[str] | None:
    """Return GnuPG's options for the key to sign with; None if there is none."""
    if key := os.environ.get("GPG_KEY"):
        return ["--local-user", key]
    if not shutil.which("gpg"):
        return None
    known = subprocess.run(["gpg", "--list-secret-keys", "--with-colons"], capture_output=True)
    return [] if b"sec:" in known.stdout else None


def sign(dist: Path, key: list[str]) -> None:
    """Write a detached signature next to each file."""
    files = [*dist.glob("maven/**/*.jar"), *dist.glob("maven/**/*.pom")]
    for file in [*files, *dist.glob("zcube-*.whl"), *dist.glob("zcube-*.tar.gz")]:
        subprocess.run(
            ["gpg", "--batch", "--yes", "--armor", "--detach-sign", *key, str(file)], check=True
        )


def bundle(dist: Path) -> Path:
    """Pack the files for a Maven repository, with their folders."""
    target = dist / f"zcube-{__version__}-maven.zip"
    root = dist / "maven"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            # A repository's own metadata is not part of a release.
            if file.is_file() and not file.name.startswith("maven-metadata"):
                archive.write(file, file.relative_to(root))
    return target


def main() -> int:
    """Check, sign, pack."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument(
        "--staging", action="store_true", help="a trial: no date, no address, no signature"
    )
    options = parser.parse_args()
    found = list(problems(options.dist, staging=options.staging))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        return 1
    if not options.staging:
        key = signing_key()
        if key is None:
            print(
                "NOT SIGNED: GnuPG has no secret key. Sign the files in dist/ by this script, on a "
                "machine that has one, before you upload it.",
                file=sys.stderr,
            )
        else:
            sign(options.dist, key)
    print(bundle(options.dist))
    return 0


if __name__ == "__main__":
    sys.exit(main())
