"""zcube.configure: what it adds, and that it keeps existing settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
import zcube
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from zcube._spark import gateway, launch, versions
from zcube.session import (
    CATALOG,
    DELTA_CATALOG,
    DELTA_EXTENSION,
    EXTENSIONS,
    JARS,
    PACKAGES,
    ZCUBE_EXTENSION,
    extension_settings,
    jar_settings,
)

REPOSITORY = Path(__file__).resolve().parents[2]
JAR = "/opt/zcube-spark_4.2_2.13-0.1.0.jar"
DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
BOTH = f"{DELTA_EXTENSION},{ZCUBE_EXTENSION}"


def settings(given: dict[str, str]) -> dict[str, str]:
    """The options of a builder after zcube.configure."""
    return given | jar_settings(given, lambda: JAR, lambda: DELTA) | extension_settings(given)


@pytest.fixture
def no_jvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh Python process, where Spark's JVM is not running yet."""
    monkeypatch.setattr(gateway, "jvm_runs", lambda: False)


def test_bare_builder_gets_jar_delta_extensions_and_catalog() -> None:
    assert settings({}) == {
        JARS: JAR,
        PACKAGES: DELTA,
        EXTENSIONS: BOTH,
        CATALOG: DELTA_CATALOG,
    }


@pytest.mark.parametrize(
    ("given", "key", "expected"),
    [
        ({JARS: "/opt/a.jar, /opt/b.jar"}, JARS, f"/opt/a.jar,/opt/b.jar,{JAR}"),
        ({JARS: "/mine/zcube-spark_4.2_2.13-9.jar"}, JARS, "/mine/zcube-spark_4.2_2.13-9.jar"),
        ({PACKAGES: "org.x:y:1"}, PACKAGES, f"org.x:y:1,{DELTA}"),
        ({PACKAGES: "io.delta:delta-spark_4.2_2.13:4.4.1"}, PACKAGES, None),
        ({JARS: "/opt/delta-spark_4.2_2.13-4.4.0.jar"}, PACKAGES, None),
        ({EXTENSIONS: "org.x.Extension"}, EXTENSIONS, f"org.x.Extension,{BOTH}"),
        ({EXTENSIONS: DELTA_EXTENSION}, EXTENSIONS, BOTH),
        # Either order works, so the user's stays.
        ({EXTENSIONS: ZCUBE_EXTENSION}, EXTENSIONS, f"{ZCUBE_EXTENSION},{DELTA_EXTENSION}"),
        ({CATALOG: "org.x.Catalog"}, CATALOG, "org.x.Catalog"),
    ],
)
def test_what_is_there_is_added_to_and_never_overwritten(
    given: dict[str, str], key: str, expected: str | None
) -> None:
    assert settings(given).get(key) == (
        given[key] if key in given and expected is None else expected
    )


_entries = st.lists(
    st.sampled_from(["a", "b", JAR, DELTA, DELTA_EXTENSION, ZCUBE_EXTENSION]), max_size=4
).map(",".join)


@given(st.dictionaries(st.sampled_from([JARS, PACKAGES, EXTENSIONS, CATALOG, "x"]), _entries))
def test_configure_is_idempotent_and_loses_nothing(given: dict[str, str]) -> None:
    once = settings(given)
    assert settings(once) == once
    for key, value in given.items():
        assert set(filter(None, value.split(","))) <= set(once[key].split(","))


def test_configuring_a_builder_twice_changes_nothing_more(no_jvm: None) -> None:
    builder = SparkSession.Builder().config(EXTENSIONS, "org.x.Extension")
    assert zcube.configure(builder) is builder
    once = dict(builder._options)
    assert once[EXTENSIONS] == f"org.x.Extension,{BOTH}"
    assert re.search(r"/zcube-spark_\d\.\d_2\.13-[\w.]+\.jar$", once[JARS])
    zcube.configure(builder)
    assert builder._options == once


def test_remote_builder_is_left_alone() -> None:
    builder = SparkSession.Builder().remote("sc://db.example:15002")
    zcube.configure(builder)
    assert builder._options == {"spark.remote": "sc://db.example:15002"}


def test_a_local_connect_server_is_started_with_the_jar(no_jvm: None) -> None:
    builder = SparkSession.Builder().remote("local[2]")
    options = zcube.configure(builder)._options
    line = ".".join(pyspark.__version__.split(".")[:2])
    jar = Path(options[JARS])
    assert re.fullmatch(rf"zcube-spark_{re.escape(line)}_2\.13-[\w.]+\.jar", jar.name)
    assert jar.is_file()
    assert re.fullmatch(
        rf"io\.delta:delta-spark_{re.escape(line)}_2\.13:4\.\d+\.\d+", options[PACKAGES]
    )
    assert options[EXTENSIONS] == BOTH
    assert options[CATALOG] == DELTA_CATALOG


def test_spark_defaults_are_kept(
    no_jvm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# the site's own\nspark.sql.extensions   org.site.Extension\nspark.jars=/site/a.jar\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    options = zcube.configure(SparkSession.Builder())._options
    assert options[EXTENSIONS] == f"org.site.Extension,{BOTH}"
    assert options[JARS].startswith("/site/a.jar,")


def test_submit_arguments_that_would_hide_the_jar_are_rejected(
    no_jvm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars /site/a.jar pyspark-shell")
    with pytest.raises(
        zcube.ZCubeError, match=r"PYSPARK_SUBMIT_ARGS sets spark\.jars.*zcube-spark_"
    ):
        zcube.configure(SparkSession.Builder())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--conf a=b=c --jars x,y pyspark-shell", {"a": "b=c", JARS: "x,y"}),
        ("--jars x --conf spark.jars=z pyspark-shell", {JARS: "x"}),
        ("--packages 'p q' pyspark-shell", {PACKAGES: "p q"}),
        (
            "--conf=a=b=c --jars=x,y --packages=p pyspark-shell",
            {"a": "b=c", JARS: "x,y", PACKAGES: "p"},
        ),
        ("--verbose -c a=b pyspark-shell", {"a": "b"}),
        ("", {}),
    ],
)
def test_submit_arguments_are_read_as_spark_submit_does(
    arguments: str, expected: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert launch.submit_settings() == expected


def test_a_properties_file_is_read_instead_of_the_defaults(
    no_jvm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.extensions org.site.Extension\n")
    file = tmp_path / "my.conf"
    file.write_text("spark.sql.extensions org.my.Extension\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file={file} pyspark-shell")
    assert (
        zcube.configure(SparkSession.Builder())._options[EXTENSIONS] == f"org.my.Extension,{BOTH}"
    )
    file.write_text("spark.jars /a.jar\n")
    assert zcube.configure(SparkSession.Builder())._options[EXTENSIONS] == BOTH
    both = f"--load-spark-defaults --properties-file {file} pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", both)
    options = zcube.configure(SparkSession.Builder())._options
    assert options[EXTENSIONS] == f"org.site.Extension,{BOTH}"
    assert options[JARS].startswith("/a.jar,")
    file.write_bytes(b"\xff")
    with pytest.raises(zcube.ZCubeError, match=r"my\.conf can't be read"):
        zcube.configure(SparkSession.Builder())
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf 'a")
    with pytest.raises(zcube.ZCubeError, match="PYSPARK_SUBMIT_ARGS can't be read: No closing"):
        zcube.configure(SparkSession.Builder())


def test_folders_named_like_the_jar_are_no_jar() -> None:
    given = {JARS: "/home/u/zcube-spark_4.2-work/delta-spark_/udf.jar"}
    assert settings(given)[JARS] == f"{given[JARS]},{JAR}"
    assert settings(given)[PACKAGES] == DELTA
    packages = {PACKAGES: "org.zcube-spark_.x:udf:1"}
    assert settings(packages)[JARS] == JAR


def test_a_masters_url_may_be_that_of_a_server() -> None:
    builder = SparkSession.Builder().config("spark.api.mode", "connect").master("sc://db.example")
    before = dict(builder._options)
    assert zcube.configure(builder)._options == before


@pytest.mark.parametrize("version", ["3.5.7", "4.3.0", "5.0.0.dev1", "unknown"])
def test_unsupported_pyspark_is_rejected_with_the_supported_ones(version: str) -> None:
    with pytest.raises(zcube.ZCubeError, match=rf"PySpark {re.escape(version)}.*4\.0, 4\.1, 4\.2"):
        versions.spark_line(version)


@pytest.mark.parametrize("version", ["3.3.2", "4.0.1", "4.5.0"])
def test_unsupported_delta_is_rejected_with_the_supported_one(version: str) -> None:
    with pytest.raises(zcube.ZCubeError, match=rf"delta-spark {re.escape(version)}.*4\.4"):
        versions.delta_version("4.2", version)


OF_PIP = "io.delta:delta-spark_4.1_2.13:4.4.0"


@pytest.mark.parametrize(
    ("line", "key", "entry", "cure"),
    [
        # As configure_spark_with_delta_pip writes it, with the newest delta-spark.
        ("4.1", PACKAGES, f"org.x:y:1, {OF_PIP}", "pip install 'delta-spark==4.3.*'"),
        ("4.2", PACKAGES, "io.delta:delta-spark_4.2_2.13:4.3.1", "pip install 'delta-spark==4.4.*'"),
        ("4.2", JARS, "/x/delta-spark_2.13-4.3.1-SNAPSHOT.jar", "Leave it out"),
        ("4.2", PACKAGES, "io.delta:delta-spark_4.2_2.13:4.4.9", None),
        ("4.0", JARS, "/delta-spark_4.4/delta-spark_4.0_2.13-4.3.1.jar", None),
        ("4.2", PACKAGES, "io.delta:delta-spark_4.2_2.13", None),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("no_jvm")
def test_a_delta_that_the_jar_does_not_take_is_rejected(
    monkeypatch: pytest.MonkeyPatch, line: str, key: str, entry: str, cure: str | None
) -> None:
    monkeypatch.setattr("zcube.session.spark_line", lambda: line)
    monkeypatch.setattr("zcube.session.jar_path", lambda line: JAR)
    builder = SparkSession.Builder().config(key, entry)
    if cure is None:
        assert zcube.configure(builder)._options[key].startswith(entry)
    else:
        with pytest.raises(zcube.ZCubeError) as rejection:
            zcube.configure(builder)
        assert cure in str(rejection.value)
        assert entry.split(", ")[-1] in str(rejection.value)


def test_versions_agree_with_the_build() -> None:
    table = (REPOSITORY / "project/SparkVersions.scala").read_text(encoding="utf-8")
    built = {
        match[1]: match[2]
        for match in re.finditer(r'SparkLine\("([\d.]+)", "[\d.]+", "(\d+\.\d+)', table)
    }
    assert built == versions._DELTA_FOR_SPARK
    assert sorted(built) == list(versions.SPARK_LINES)


def test_versions_name_zcube_pyspark_and_the_jar() -> None:
    found = zcube.versions()
    assert found["zcube"] == zcube.__version__
    assert found["pyspark"].startswith("4.")
    assert found["jar"].endswith(f"-{zcube.__version__}.jar")


def test_configure_beside_a_running_session_returns_it(spark: SparkSession) -> None:
    again = zcube.configure(SparkSession.Builder()).getOrCreate()
    assert again is spark


def test_a_running_session_without_zcube_is_rejected(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "session_settings", lambda: {EXTENSIONS: DELTA_EXTENSION})
    with pytest.raises(zcube.ZCubeError, match=r"spark\.stop\(\)"):
        zcube.configure(SparkSession.Builder())


def test_classes_are_looked_up_in_the_running_jvm(spark: SparkSession) -> None:
    assert gateway.has_class(ZCUBE_EXTENSION)
    assert not gateway.has_class("io.zcube.sql.NoSuchExtension")


def test_the_error_about_a_running_jvm_without_the_jar_names_the_remedy(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "has_class", lambda name: False)
    with pytest.raises(zcube.ZCubeError, match=r"--jars /.*zcube-spark_.*--packages io\.delta"):
        zcube.configure(SparkSession.Builder())


@pytest.mark.long
@pytest.mark.slow
def test_the_extensions_work_in_the_other_order(tmp_path: Path) -> None:
    """The order of zcube.configure is that of all other tests."""
    script = """
import sys, zcube
from pyspark.sql import SparkSession
order, path = sys.argv[1:]
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.databricks.delta.snapshotPartitions", "2")
spark = zcube.configure(builder.config("spark.sql.extensions", order)).getOrCreate()
assert spark.conf.get("spark.sql.extensions") == order
spark.range(1000).selectExpr("id x", "hash(id) y").repartition(3).write.format("delta").save(path)
spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y)")
table = zcube.ClusteredTable.for_path(spark, path)
result = table.optimize(zorder_by=["x", "y"], curve="hilbert")
spark._jsc.sc().listenerBus().waitUntilEmpty()
jobs = spark._jsc.sc().statusStore().jobsList(None)
names = [jobs.apply(i).description() for i in range(jobs.size())]
ours = sum(n.isDefined() and "OPTIMIZE by (x, y)" in n.get() for n in names)
print("files added:", result.files_added, "our jobs:", ours)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, f"{ZCUBE_EXTENSION},{DELTA_EXTENSION}", tmp_path / "t"],
        capture_output=True,
        text=True,
        env={key: value for key, value in os.environ.items() if "PYSPARK" not in key},
        cwd=tmp_path,
        check=False,
    )
    assert "files added: 1 our jobs: 4" in done.stdout, done.stderr[-2000:]
