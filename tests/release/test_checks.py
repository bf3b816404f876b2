"""What ``make release`` rejects: a complete release, broken in one place at a time."""

import hashlib
import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.matrix import cases

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("release", ROOT / "scripts/release.py")
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)

VERSION = release.__version__
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
<groupId>io.zcube</groupId><artifactId>{module}</artifactId><version>{version}</version>
<name>zcube-spark</name><description>Clusters tables.</description><url>https://zcube.example</url>
<licenses><license><name>Apache-2.0</name><url>https://licence.example</url></license></licenses>
<scm><url>https://zcube.example</url><connection>scm:git:https://zcube.example</connection></scm>
<developers><developer><name>ZCube developers</name></developer></developers>
<dependencies><dependency><groupId>org.apache.spark</groupId><artifactId>spark-sql_2.13</artifactId>
<scope>provided</scope></dependency></dependencies></project>"""
JARS = {
    "": [
        "META-INF/LICENSE", "META-INF/NOTICE", "io/zcube/sql/ZCubeSparkSessionExtension.class",
        "io/zcube/range/LongRangeBounds.class",
    ],
    "-sources": ["META-INF/LICENSE", "META-INF/NOTICE", "io/zcube/range/LongRangeBounds.scala"],
    "-javadoc": ["META-INF/LICENSE", "META-INF/NOTICE", "index.html", "io/zcube/sql/ZCubeSparkSessionExtension.html"],
}  # fmt: skip


def pack(file, entries, line="4.2"):
    with zipfile.ZipFile(file, "w") as archive:
        for entry in entries:
            archive.writestr(entry, "")
        archive.writestr(release.BUILT_FOR, f"spark={line}\ndelta=4.3\n")


def sums(file):
    for kind in release.CHECKSUMS:
        digest = hashlib.new(kind, file.read_bytes()).hexdigest()
        file.with_name(f"{file.name}.{kind}").write_text(digest)


@pytest.fixture
def dist(tmp_path):
    for line in release.SPARK_LINES:
        module = f"zcube-spark_{line}_2.13"
        folder = tmp_path / "maven/io/zcube" / module / VERSION
        folder.mkdir(parents=True)
        pom = folder / f"{module}-{VERSION}.pom"
        pom.write_text(POM.format(module=module, version=VERSION))
        sums(pom)
        for kind, entries in JARS.items():
            jar = folder / f"{module}-{VERSION}{kind}.jar"
            pack(jar, entries, line)
            sums(jar)
    jars = [f"zcube/jars/zcube-spark_{line}_2.13-{VERSION}.jar" for line in release.SPARK_LINES]
    metadata = f"Metadata-Version: 2.4\nName: zcube\nVersion: {VERSION}\nDescription-Content-Type: text/markdown\n\nText.\n"
    info = f"zcube-{VERSION}.dist-info"
    with zipfile.ZipFile(tmp_path / f"zcube-{VERSION}-py3-none-any.whl", "w") as wheel:
        for entry in (
            *jars,
            "zcube/py.typed",
            f"{info}/licenses/LICENSE",
            f"{info}/licenses/NOTICE",
        ):
            wheel.writestr(entry, "")
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\n")
    inner = tmp_path / "inner"
    for entry in (*jars, "pyproject.toml", "LICENSE", "NOTICE", "PKG-INFO"):
        (inner / entry).parent.mkdir(parents=True, exist_ok=True)
        (inner / entry).write_text(metadata if entry == "PKG-INFO" else "")
    with tarfile.open(tmp_path / f"zcube-{VERSION}.tar.gz", "w:gz") as sdist:
        sdist.add(inner, f"zcube-{VERSION}")
    return tmp_path


def staged(dist):
    return list(release.problems(dist, staging=True))


def only(dist, pattern):
    (found,) = dist.glob(f"maven/io/zcube/zcube-spark_4.2_2.13/*/{pattern}")
    return found


def test_a_whole_release_passes_and_is_packed_as_a_repository(dist):
    assert staged(dist) == []
    (dist / "maven/io/zcube/zcube-spark_4.2_2.13/maven-metadata.xml").write_text("")
    names = zipfile.ZipFile(release.bundle(dist)).namelist()
    assert (
        f"io/zcube/zcube-spark_4.0_2.13/{VERSION}/zcube-spark_4.0_2.13-{VERSION}.jar.sha1" in names
    )
    assert not [name for name in names if "maven-metadata" in name]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("ZCube developers", " ", "has no developers/developer/name"),
        ("<url>https://licence.example</url>", "", "has no licenses/license/url"),
        ("<scope>provided</scope>", "", "would bring spark-sql_2.13, which the cluster has"),
        ("<groupId>org.apache.spark", "<groupId>io.zcube", "which is in the jar already"),
        ("<version>", "<version>9.", f"is of io.zcube:zcube-spark_4.2_2.13:9.{VERSION}"),
    ],
)
def test_a_bad_pom_is_rejected(dist, old, new, problem):
    pom = only(dist, "*.pom")
    assert old in pom.read_text()
    pom.write_text(pom.read_text().replace(old, new))
    sums(pom)
    (found,) = staged(dist)
    assert problem in found
    assert pom.name in found


@pytest.mark.parametrize(
    ("kind", "entry"),
    cases(
        [(kind, entry) for kind, entries in JARS.items() for entry in entries],
        {(kind, entries[0]) for kind, entries in JARS.items()},
    ),
)
def test_a_jar_without_what_it_must_hold_is_rejected(dist, kind, entry):
    jar = only(dist, f"*.13-{VERSION}{kind}.jar")
    pack(jar, [other for other in JARS[kind] if other != entry])
    sums(jar)
    assert staged(dist) == [f"{jar.name} has no {entry}"]


def test_a_jar_of_another_line_is_rejected(dist):
    jar = only(dist, f"*.13-{VERSION}.jar")
    pack(jar, JARS[""], "4.1")
    sums(jar)
    assert staged(dist) == [f"{jar.name} was not built for Spark 4.2"]


def test_a_jar_with_classes_of_delta_is_rejected(dist):
    jar = only(dist, f"*.13-{VERSION}.jar")
    pack(jar, [*JARS[""], "io/delta/tables/DeltaTable.class"])
    sums(jar)
    (found,) = staged(dist)
    assert "io/delta/tables/DeltaTable.class, which is Spark's or Delta's" in found


def test_wrong_and_missing_checksums_are_rejected(dist):
    jar = only(dist, f"*.13-{VERSION}.jar")
    jar.with_name(f"{jar.name}.md5").unlink()
    jar.with_name(f"{jar.name}.sha1").write_text("0" * 40)
    assert staged(dist) == [f"{jar.name}.md5 is missing", f"{jar.name}.sha1 is of another file"]


def test_a_missing_line_is_rejected(dist):
    only(dist, "*.pom").unlink()
    assert staged(dist) == [f"zcube-spark_4.2_2.13-{VERSION}.pom is missing"]


def test_a_wheel_without_its_licence_is_rejected(dist):
    wheel = dist / f"zcube-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in held.items():
            if not name.endswith("LICENSE"):
                archive.writestr(name, content)
    (found,) = staged(dist)
    assert found == f"{wheel.name} has no zcube-{VERSION}.dist-info/licenses/LICENSE"


def test_a_release_needs_an_address_and_a_dated_entry_of_changes(dist):
    for line in release.SPARK_LINES:
        (pom,) = dist.glob(f"maven/io/zcube/zcube-spark_{line}_2.13/*/*.pom")
        pom.write_text(pom.read_text().replace("zcube.example", "zcube.invalid"))
        sums(pom)
    assert staged(dist) == []
    found = list(release.problems(dist, staging=False))
    assert sum("names no real address" in problem for problem in found) == len(release.SPARK_LINES)
    text = f"# Changes\n\n## {VERSION} (unreleased)\n"
    assert list(release.changelog_problems(VERSION, text))
    assert not list(
        release.changelog_problems(VERSION, f"# Changes\n\n## {VERSION} (2026-12-01)\n")
    )


def test_all_problems_are_reported_at_once_and_nothing_is_packed(dist):
    only(dist, "*.pom").unlink()
    (dist / f"zcube-{VERSION}.tar.gz").unlink()
    command = [sys.executable, ROOT / "scripts/release.py", "--staging", "--dist", dist]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert not list(dist.glob("*.zip"))


@pytest.mark.skipif(not shutil.which("gpg"), reason="there is no GnuPG on this machine")
def test_each_file_is_signed_if_there_is_a_key(dist, monkeypatch, tmp_path_factory):
    home = tmp_path_factory.mktemp("gnupg")
    home.chmod(0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    monkeypatch.delenv("GPG_KEY", raising=False)
    assert release.signing_key() is None
    subprocess.run(
        ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "ZCube developers", "ed25519"],
        check=True, capture_output=True,
    )  # fmt: skip
    try:
        release.sign(dist, release.signing_key())
        signed = [*dist.glob("maven/**/*.jar"), *dist.glob("maven/**/*.pom")]
        signed += [*dist.glob("zcube-*.whl"), *dist.glob("zcube-*.tar.gz")]
        assert len(signed) == 4 * len(release.SPARK_LINES) + 2
        for file in signed:
            command = ["gpg", "--batch", "--verify", f"{file}.asc", str(file)]
            subprocess.run(command, check=True, capture_output=True)
    finally:
        subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=False)
    with zipfile.ZipFile(release.bundle(dist)) as archive:
        assert sum(name.endswith(".asc") for name in archive.namelist()) == len(signed) - 2


def test_python_has_the_licence_of_the_whole():
    for name in release.LEGAL:
        assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()


def test_what_is_held_compatible_is_marked_as_public():
    listed = re.findall(
        r'^ +"(io\.zcube\.[\w.]+)"',
        (ROOT / "project/Compatibility.scala").read_text(),
        re.MULTILINE,
    )
    marked = [
        "io.zcube."
        + file.as_posix().split("/io/zcube/")[1].removesuffix(".scala").replace("/", ".")
        for file in ROOT.glob("jvm/*/src/main/scala/io/zcube/**/*.scala")
        if "@note Public:" in file.read_text(encoding="utf-8")
    ]
    assert len(listed) >= 3
    assert sorted(listed) == sorted(marked)
