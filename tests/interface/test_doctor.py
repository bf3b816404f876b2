"""zcube doctor: the findings, the problems, and the remedies."""

import json
from contextlib import contextmanager, nullcontext

import pytest
from zcube import cli
from zcube.cli import doctor


@pytest.fixture
def examined(monkeypatch, capsys):
    """``examined(*arguments)`` returns exit code and findings by subject."""

    def examine(*arguments):
        code = cli.main(["doctor", "--json", *arguments])
        findings = json.loads(capsys.readouterr().out)
        return code, {f["subject"]: (f["found"], f["problem"]) for f in findings}

    return examine


@pytest.fixture
def java(tmp_path, monkeypatch):
    """``java(version)`` sets JAVA_HOME to a Java that reports this version."""

    def home(version):
        (tmp_path / "bin").mkdir(exist_ok=True)
        program = tmp_path / "bin/java"
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
        program.chmod(0o755)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return home


def test_what_is_installed_is_reported_without_a_session(examined, java):
    java("21.0.7")
    code, findings = examined("--no-session")
    assert code == 0, findings
    assert [*findings] == [
        "zcube", "Python", "PySpark", "delta-spark", "jar", "Java", "spark-defaults.conf and --conf",
    ]  # fmt: skip
    assert not any(problem for _, problem in findings.values())
    assert findings["jar"][0].endswith(".jar")
    assert findings["Java"][0].startswith("21, ")


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_402", "25"])
def test_another_java_is_a_problem_and_no_session_is_started(examined, java, version):
    java(version)
    code, findings = examined()
    assert code == 1
    assert "Install Java 17 or 21" in findings["Java"][1]
    assert findings["session"] == ("not started: fix the problems above first", "")


def test_a_missing_java_is_a_problem(examined, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert examined("--no-session")[1]["Java"][0] == f"none at {tmp_path}/bin/java"
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    code, findings = examined("--no-session")
    assert (code, findings["Java"][0]) == (1, "none")


@pytest.mark.parametrize(
    ("package", "version", "subject", "remedy"),
    [
        ("pyspark", "3.5.1", "PySpark", "pip install 'pyspark=="),
        ("delta-spark", "3.2.0", "delta-spark", "pip install 'delta-spark=="),
    ],
)
def test_versions_that_dont_go_together_are_a_problem(
    examined, java, monkeypatch, package, version, subject, remedy
):
    import pyspark
    from zcube._spark import versions

    java("17")
    real = versions.metadata.version
    monkeypatch.setattr(
        versions.metadata, "version", lambda name: version if name == package else real(name)
    )
    if package == "pyspark":
        monkeypatch.setattr(pyspark, "__version__", version)
    code, findings = examined("--no-session")
    assert code == 1
    assert findings[subject][0] == version
    assert remedy in findings[subject][1]


def test_a_delta_for_another_spark_is_a_warning(examined, java, monkeypatch, capsys):
    import pyspark
    from zcube._spark import versions

    java("17")
    real = versions.metadata.version
    installed = {"pyspark": "4.1.1", "delta-spark": "4.4.0"}
    monkeypatch.setattr(
        versions.metadata, "version", lambda name: installed.get(name) or real(name)
    )
    monkeypatch.setattr(pyspark, "__version__", "4.1.1")
    monkeypatch.setattr("zcube._spark.jar.jar_path", lambda line: __file__)
    code, findings = examined("--no-session")
    # zcube.configure takes the jar of 4.3.1.
    assert (code, findings["delta-spark"]) == (0, ("4.4.0", ""))
    warning = (
        "With PySpark 4.1, ZCube and its sessions have Delta 4.3: pip install 'delta-spark==4.3.*'."
    )
    assert cli.main(["doctor", "--no-session"]) == 0
    assert f"  delta-spark: 4.4.0\n    warning: {warning}\n" in capsys.readouterr().out
    assert cli.main(["doctor", "--no-session", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [f["warning"] for f in found if f["warning"]] == [warning]
    # It doesn't keep a session from being checked either.
    started = []
    with monkeypatch.context() as patch:
        patch.setattr(doctor, "start_session", lambda options: nullcontext(None))
        patch.setattr(doctor, "_in_session", lambda spark: started.append(spark) or iter(()))
        assert examined()[0] == 0
    assert started == [None]
    named = "spark.jars.packages=io.delta:delta-spark_4.1_2.13:4.4.0"
    code, findings = examined("--no-session", "--conf", named)
    assert code == 1
    problem = findings["spark-defaults.conf and --conf"][1]
    assert "delta-spark_4.1_2.13:4.4.0, but with PySpark 4.1 ZCube works with Delta 4.3." in problem


def session_of(monkeypatch, spark):
    monkeypatch.setattr(doctor, "start_session", lambda options: nullcontext(spark))


def test_a_session_with_everything_has_no_problem(examined, monkeypatch, spark):
    session_of(monkeypatch, spark)
    spark.conf.set("spark.zcube.merge.fanOut", "6")
    code, findings = examined()
    assert code == 0, findings
    assert findings["ZCube's functions"] == ("available", "")
    assert findings["spark.zcube.merge.fanOut"] == ("6", "")


def test_another_catalog_is_a_warning_and_none_a_problem(monkeypatch, spark):
    subject = "spark.sql.catalog.spark_catalog"
    delta = spark.conf.get(subject)

    def found(catalog):
        values = {subject: catalog, "spark.sql.extensions": spark.conf.get("spark.sql.extensions")}

        class Conf:
            getAll = {}  # noqa: N815, RUF012

            @staticmethod
            def get(key, default=None):
                return values.get(key, default)

        class Session:
            version, conf, sql = spark.version, Conf, spark.sql

        return next(f for f in doctor._in_session(Session()) if f.subject == subject)

    assert (found(delta).problem, found(delta).warning) == ("", "")
    other = found("com.example.Catalog")
    assert other.problem == ""
    assert f"Set {subject} to {delta}, unless" in other.warning
    # Spark's name for its own.
    for none in ("", "builtin"):
        assert found(none).problem == f"Set {subject} to {delta}."


def test_an_unknown_setting_is_a_problem(examined, monkeypatch, spark):
    session_of(monkeypatch, spark)
    spark.conf.set("spark.zcube.merge.fanout", "6")
    code, findings = examined()
    assert code == 1
    assert "no such setting" in findings["spark.zcube.merge.fanout"][1]


class Bare:
    """A session that was started without ZCube."""

    version = "4.2.0"

    class conf:  # noqa: N801
        getAll = {}  # noqa: N815, RUF012

        @staticmethod
        def get(key, default=None):
            return default

    def sql(self, text):
        if text == "SET -v":
            return self
        raise ValueError("[UNRESOLVED_ROUTINE] Cannot resolve routine `hilbert_index`.\nmore")

    def collect(self):
        return []


def test_a_session_without_zcube_is_a_problem(examined, monkeypatch):
    session_of(monkeypatch, Bare())
    code, findings = examined()
    assert code == 1
    wrong = [subject for subject, (_, problem) in findings.items() if problem]
    assert wrong == [
        "ZCube's functions",
        "io.delta.sql.DeltaSparkSessionExtension",
        "io.zcube.sql.ZCubeSparkSessionExtension",
        "spark.sql.catalog.spark_catalog",
    ]
    assert findings["ZCube's functions"][0] == "unavailable"
    assert findings["ZCube's functions"][1].endswith("`hilbert_index`.")


class Hidden(Bare):
    """A server that responds, but hides its settings."""

    def sql(self, text):
        self.answer = [] if text == "SET -v" else [[14]]
        return self

    def collect(self):
        return self.answer


def test_a_server_that_hides_its_settings_has_no_problem(examined, monkeypatch):
    session_of(monkeypatch, Hidden())
    code, findings = examined("--conf", "spark.remote=sc://nowhere")
    assert code == 0, findings
    # Java, Delta and the jar are on the server.
    assert "Java" not in findings


def test_what_other_applications_lack_is_reported(examined, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    session_of(monkeypatch, Hidden())
    reported = examined()[1]["spark-defaults.conf and --conf"]
    assert reported == (
        "missing spark.jars, spark.jars.packages, spark.sql.extensions, "
        "spark.sql.catalog.spark_catalog (zcube.configure adds them)",
        "",
    )
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.jars /x/zcube-spark_4.2_2.13-1.jar\n"
        "spark.jars.packages io.delta:delta-spark_4.2_2.13:4.4.0\n"
        "spark.sql.extensions io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension\n"
        "spark.sql.catalog.spark_catalog org.apache.spark.sql.delta.catalog.DeltaCatalog\n"
    )
    from zcube._spark import versions

    real = versions.metadata.version
    monkeypatch.setattr(
        versions.metadata, "version", lambda name: "3.2.0" if name == "delta-spark" else real(name)
    )
    code, findings = examined()
    assert findings["spark-defaults.conf and --conf"] == ("complete", "")
    # With explicitly given jars, the packages aren't needed.
    assert (code, findings["delta-spark"]) == (0, ("3.2.0", ""))


@pytest.mark.parametrize("session", [[], ["--no-session"]])
def test_settings_that_can_not_be_read_are_a_problem(
    examined, monkeypatch, tmp_path, capsys, java, session
):
    java("21.0.7")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    subject = "spark-defaults.conf and --conf"
    assert examined("--no-session")[0] == 0

    def problem():
        code, findings = examined(*session)
        assert code == 1
        # All the rest is reported, too.
        assert {"Python", "Java", "jar"} <= findings.keys()
        assert session or findings["session"] == ("not started: fix the problems above first", "")
        found, why = findings[subject]
        assert found == "can't be read"
        return why

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf 'a=b")
    assert problem() == "PYSPARK_SUBMIT_ARGS can't be read: No closing quotation."
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS")
    defaults = tmp_path / "spark-defaults.conf"
    defaults.write_bytes(b"spark.jars \xff")
    assert problem().startswith(f"Spark's settings in {defaults} can't be read: 'utf-8' codec")
    assert cli.main(["doctor", *session]) == 1
    printed = capsys.readouterr()
    assert f"! {subject}: can't be read\n    Spark's settings in {defaults} can't" in printed.out
    assert printed.err == ""


def test_a_spark_that_does_not_start_is_reported_without_secrets(examined, monkeypatch):
    @contextmanager
    def failing(options):
        raise RuntimeError("Java gateway process exited; token=abc;x\nbefore sending")
        yield

    monkeypatch.setattr(doctor, "start_session", failing)
    code, findings = examined()
    assert (code, findings["session"]) == (1, ("fails", "Java gateway process exited; token=…;x"))


class FromJava(Exception):  # noqa: N818
    """As py4j raises Java's errors before PySpark converts them; with these texts of its causes."""

    def __init__(self, *texts):
        super().__init__("An error occurred while calling None.org.X.\n: trace\n at y")
        self.java_exception = None
        for text in reversed(texts):
            self.java_exception = Throwable(text, self.java_exception)


FromJava.__module__ = "py4j.protocol"


class Throwable:
    def __init__(self, text, cause):
        self.toString = lambda: text
        self.getCause = lambda: cause


MERGE = "[DELTA_FAILED_MERGE_SCHEMA_FILE] Failed to merge schema of file a.parquet:"
UNSUPPORTED = "[ZCUBE_UNSUPPORTED_VERSION] This jar is for Spark 9.9."


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (
            [
                "java.lang.IllegalArgumentException: Error while instantiating 'x.SessionStateBuilder':",
                "java.lang.reflect.InvocationTargetException",
                f"io.zcube.Unsupported: {UNSUPPORTED}\nmore",
            ],
            UNSUPPORTED,
        ),
        (["org.apache.spark.SparkException: Bad master: x"], "org.apache.spark.SparkException: Bad master: x"),
        (["a.B: no address:"], "a.B: no address:"),
        (["a.B: it failed", "a.C: cause"], "a.B: it failed"),
        (["a.B: it failed:\n\n no space\nmore", "a.C: cause"], "a.B: it failed: no space"),
        (["a.B: it failed:", "a.C: cause\nmore"], "a.B: it failed: a.C: cause"),
        (["a.B: it failed:\nat x.Y(Z.scala:1)", "a.C: cause"], "a.B: it failed: a.C: cause"),
        ([f"a.B: {MERGE}\nroot\n", "a.C: cause"], MERGE),
        (["a.B: [ODD_2] x:", "a.C: cause"], "[ODD_2] x:"),
        (["a.B: [ODD] Error while instantiating x", "a.C: cause"], "[ODD] Error while instantiating x"),
        (["a.InvocationTargetException"] * 60, "a.InvocationTargetException"),
    ],
)  # fmt: skip
def test_an_error_of_java_is_reported_by_its_cause(examined, monkeypatch, capsys, texts, reason):
    def failing(*_):
        raise FromJava(*texts)

    monkeypatch.setattr(doctor, "start_session", failing)
    assert examined()[1]["session"] == ("fails", reason)
    monkeypatch.setattr("zcube.session.configure", failing)
    assert cli.main(["plan", "/x"]) == 1
    assert capsys.readouterr().err == f"zcube: {reason}\n"


def test_an_error_of_spark_is_reported_by_its_cause(examined, monkeypatch, spark, capsys):
    from pyspark.errors.exceptions.captured import IllegalArgumentException

    def failing(*_):
        # As for a setting with a wrong value.
        builder = spark._jvm.java.lang.IllegalArgumentException
        cause = builder("[INVALID_CONF_VALUE] The value 'peano' is invalid.")
        raise IllegalArgumentException(
            origin=builder("Error while instantiating 'x.Builder':", cause)
        )

    monkeypatch.setattr(doctor, "start_session", failing)
    reason = "[INVALID_CONF_VALUE] The value 'peano' is invalid."
    assert examined()[1]["session"] == ("fails", reason)
    monkeypatch.setattr("zcube.session.configure", failing)
    assert cli.main(["plan", "/x"]) == 1
    assert capsys.readouterr().err == f"zcube: {reason}\n"


def test_a_problem_is_followed_by_its_remedy(monkeypatch, capsys):
    session_of(monkeypatch, Bare())
    assert cli.main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "  Python: " in "\n".join(lines)
    at = lines.index("! spark.sql.catalog.spark_catalog: unset")
    assert lines[at + 1].endswith("to org.apache.spark.sql.delta.catalog.DeltaCatalog.")
    assert doctor.JAVA == (17, 21)


def test_an_error_whose_java_is_gone_is_named_by_its_class(monkeypatch, capsys):
    def gone():
        raise ConnectionRefusedError("no Java")

    error = FromJava("x")
    error.java_exception.toString = gone
    # py4j asks Java for the text, too.
    monkeypatch.setattr(FromJava, "__str__", lambda _: gone())

    def failing(*_):
        raise error

    monkeypatch.setattr("zcube.cli.recommend.open_table", failing)
    queries = "--queries", __file__
    assert cli.main(["recommend", "/x", *queries]) == 1
    assert capsys.readouterr().err == "zcube: FromJava\n"
