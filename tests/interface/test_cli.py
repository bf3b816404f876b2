"""The command zcube."""

import argparse
import functools
import inspect
import io
import json
import os
import re
import select
import socket
import subprocess
import sys
from contextlib import nullcontext

import pyarrow
import pytest
from deltalake import write_deltalake
from zcube import ClusteredTable, ZCubeError, cli
from zcube._spark import connect
from zcube.cli import engine, output, pictures
from zcube.cli.optimize import _how_to_optimize

from tests.support import written_log
from tests.support.log_replay import live_files
from tests.support.processes import run_here


def test_every_command_has_help_and_rejects_bad_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    assert "optimize" in capsys.readouterr().out
    for arguments in (
        [],
        ["nope"],
        ["optimize"],
        ["optimize", "/x", "--merge-policy", "none"],
        ["optimize", "/x", "--zorder-by", "a", "--curve", "peano"],
        ["quality", "/x", "--max-depth", "0"],
        ["quality", "/x", "--max-depth", "nan"],
        ["quality", "/x", "--max-depth", "inf"],
        ["doctor", "--remote", "sc://x", "--no-session"],
        ["doctor", "--conf", "nonsense"],
        ["quality", "/x", "--min-skipping", "1.5"],
        ["quality", "/x", "--min-skipping", "much"],
        ["plan"],
        ["optimize", "/x", "--zorder-by", "a", "--conf", "nonsense"],
        ["optimize", "/x", "--zorder-by", "a", "--curve", "kdtree", "--weights", "a=many"],
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
    errors = capsys.readouterr().err
    assert "write 'nonsense' as KEY=VALUE" in errors
    assert "write 'a=many' as COLUMN=NUMBER" in errors


def test_errors_are_one_line_with_the_remedy(capsys, tmp_path):
    assert cli.main(["demo", "--scale", "0"]) == 1
    error = capsys.readouterr().err
    assert error == "zcube: scale must be 0.01 to 100, not 0.\n"
    queries = tmp_path / "queries.sql"
    queries.write_bytes(b"\xff")
    assert cli.main(["recommend", "/x", "--queries", str(queries)]) == 1
    assert re.fullmatch("zcube: The queries can't be read: .*\n", capsys.readouterr().err)


def run(*arguments):
    command = [sys.executable, "-m", "zcube", *arguments]
    command += ["--json", "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    command += ["--conf", "spark.databricks.delta.snapshotPartitions=2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.long
def test_optimize_passes_columns_curve_and_weights_on(spark, path):
    spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y").write.format("delta").save(path)
    result = run(
        "optimize", path, "--zorder-by", "x,y", "--curve", "kdtree", "--weights", "x=2,y=1"
    )
    assert (result["files_removed"], result["files_added"]) == (3, 1)
    (file,) = live_files(path)
    assert file.tags["ZCUBE_ZORDER_CURVE"] == "kdtree"
    assert json.loads(file.tags["ZCUBE_ZORDER_BY"]) == ["x", "y"]
    x, y = json.loads(file.tags["ZCUBE_WEIGHTS"])
    assert x / y == 2


def test_optimize_passes_the_options_of_a_clustered_table_on(
    spark, in_this_session, path, capsys, monkeypatch
):
    rows = spark.range(0, 3000, 1, 3).selectExpr("id x", "hash(id) y")
    rows.write.format("delta").clusterBy("x", "y").save(path)
    (ruled_out,) = [file.path for file in live_files(path) if file.minimum["x"] >= 2000]
    calls, optimize = [], ClusteredTable.optimize

    @functools.wraps(optimize)
    def recorded(table, **how):
        calls.append(how)
        return optimize(table, **how)

    monkeypatch.setattr(ClusteredTable, "optimize", recorded)
    code, out, _ = run_here(
        capsys, "optimize", path, "--json", "--full", "--where", "x < 2000", "--merge-policy", "all",
        "--max-bytes", "1g", "--max-duration", "1h", "--min-cube-size", "1m",
        "--target-cube-size", "2m", "--max-file-size", "10k",
    )  # fmt: skip
    assert code == 0
    result = json.loads(out)
    assert result["files_removed"] == 2
    assert result["files_added"] >= 2
    assert [cube["state"] for cube in result["cubes"]] == ["committed"]
    files = {file.path for file in live_files(path)}
    assert ruled_out in files
    assert len(files) == result["files_added"] + 1
    # So small a table shows nothing of most options.
    (call,) = calls
    assert {name: value for name, value in call.items() if value is not None} == {
        "where": "x < 2000",
        "full": True,
        "merge_policy": "all",
        "max_bytes": "1g",
        "max_duration": "1h",
        "min_cube_size": "1m",
        "target_cube_size": "2m",
        "max_file_size": "10k",
    }


def test_quality_prints_a_table_or_json_and_fails_beyond_a_bound(
    spark, in_this_session, path, capsys
):
    # Each file holds all of x, so every file overlaps every other.
    spark.range(0, 3000, 1, 3).selectExpr("id % 1000 x", "id y").write.format("delta").save(path)
    code, out, err = run_here(capsys, "quality", path, "--by", "x, y")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[:4]] == ["column", "x", "y", "*"]
    code, out, err = run_here(capsys, "quality", path, "--by", "x", "--json", "--max-depth", "3")
    assert (code, err) == (0, "")
    assert json.loads(out)["all"]["maximum_depth"] == 3
    code, _, err = run_here(
        capsys, "quality", path, "--by", "x", "--max-depth", "2", "--min-skipping", "0.5"
    )
    assert code == 1
    assert err.splitlines() == [
        "zcube: maximum depth of all columns (*) is 3, over 2",
        "zcube: skipping effectiveness of all columns (*) is 0.00, under 0.5",
    ]


@pytest.mark.parametrize("engine", ["spark", "log"])
def test_a_table_without_clustering_columns_is_seen_by_those_with_statistics(
    spark, in_this_session, path, tmp_path, capsys, engine
):
    spark.range(0, 90, 1, 3).selectExpr(
        "id", "id > 5 flag", "map(id, id) m", "named_struct('a-b', id, 'f', true) st", "'v' s"
    ).write.format("delta").save(path)
    code, out, err = run_here(capsys, "quality", path, "--engine", engine)
    assert code == 0
    assert err == (
        "zcube: The table has no clustering columns; these are the first columns with statistics.\n"
    )
    shown = [line.split("  ")[0].strip() for line in out.splitlines()[:5]]
    assert shown == ["column", "id", "st.`a-b`", "s", "*"]
    page = tmp_path / "report.html"
    assert run_here(capsys, "report", path, "-o", str(page), "--engine", engine)[0] == 0
    assert "by id, st.`a-b`, s. From the log" in page.read_text(encoding="utf-8")
    assert "these are the first columns with statistics" in page.read_text(encoding="utf-8")
    # A bound would apply to columns that weren't chosen.
    code, out, err = run_here(capsys, "quality", path, "--engine", engine, "--max-depth", "3")
    assert (code, out) == (1, "")
    assert err.startswith("zcube: [ZCUBE_NO_CLUSTERING_COLUMNS] ")
    assert "Name the columns: --by a,b." in err
    assert "DESCRIBE" not in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("engine", ["spark", "log"])
def test_a_table_without_clustering_columns_and_statistics_has_nothing_to_show(
    spark, in_this_session, path, capsys, engine
):
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    spark.range(9).selectExpr("id", "id > 5 flag").write.format("delta").save(path)
    code, out, err = run_here(capsys, "quality", path, "--engine", engine)
    assert (code, out) == (1, "")
    assert err.startswith("zcube: [ZCUBE_NO_CLUSTERING_COLUMNS] ")
    assert "Name the columns: --by a,b." in err
    assert "DESCRIBE" not in err


def test_columns_whose_files_have_no_statistics_are_left_out(spark, in_this_session, path, capsys):
    spark.sql(
        f"CREATE TABLE delta.`{path}` (x INT, y INT, p INT) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'y')"
    )
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 2, 3)")
    code, out, _ = run_here(capsys, "quality", path, "--json")
    assert code == 0
    assert [column["column"] for column in json.loads(out)["columns"]] == ["y"]
    assert json.loads(out)["note"].startswith("The table has no clustering columns")


def test_a_plan_says_what_would_be_done_and_does_nothing(spark, in_this_session, path, capsys):
    spark.range(0, 3000, 1, 3).selectExpr("id x").write.format("delta").save(path)
    code, out, err = run_here(capsys, "plan", path, "--zorder-by", "x")
    assert (code, err) == (0, "")
    assert out.startswith("3 files (")
    code, out, _ = run_here(capsys, "plan", path, "--zorder-by", "x", "--max-bytes", "1", "--json")
    assert code == 0
    assert [file["reason"] for file in json.loads(out)["left"]] == ["over budget"] * 3
    assert spark.sql(f"DESCRIBE HISTORY delta.`{path}`").count() == 1


def test_both_engines_print_the_same(spark, in_this_session, path, tmp_path, capsys, monkeypatch):
    spark.range(0, 3000, 1, 3).selectExpr("id % 1000 x", "id y").write.format("delta").save(path)
    quality = ("quality", path, "--by", "x,y", "--json")
    _, by_spark, err = run_here(capsys, *quality, "--engine", "spark")
    assert err == ""
    with monkeypatch.context() as no_spark:
        no_spark.setattr("zcube.session.configure", None)
        for arguments in ((), ("--engine", "log")):
            assert run_here(capsys, *quality, *arguments) == (0, by_spark, "")
        page = tmp_path / "r.html"
        code, out, err = run_here(capsys, "report", path, "--by", "x,y", "-o", str(page))
        assert (code, out, err) == (0, f"written: {page}\n", "")
        assert run_here(capsys, *quality, "--engine", "log", "--where", "y > 1") == (
            1,
            "",
            "zcube: --engine log can't do this: WHERE needs Spark's data skipping. "
            "Use --engine spark.\n",
        )
    for option in (["--name"], ["--master", "local"], ["--remote", "sc://h"], ["--conf", "a=b"]):
        with pytest.raises(SystemExit) as stop:
            cli.main([*quality, "--engine", "log", *option])
        assert stop.value.code == 2
        assert f"argument {option[0]}: --engine log doesn't start Spark" in capsys.readouterr().err
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    code, out, err = run_here(capsys, *quality)
    assert (code, out) == (0, by_spark)
    assert err == "zcube: Spark reads the log: column mapping\n"
    monkeypatch.setitem(sys.modules, "zcube._log.deltalake", None)
    code, out, err = run_here(capsys, *quality)
    assert (code, out) == (0, by_spark)
    assert "pip install 'zcube[log]'" in err


def test_a_history_with_a_version_that_only_spark_measures_is_sparks(tmp_path, monkeypatch, capsys):
    path = str(tmp_path / "t")
    for _ in range(3):
        write_deltalake(path, pyarrow.table({"x": [1], "y": [2]}), mode="overwrite")
    # Nothing of this version is in the newest.
    written_log.edit(path, 1, "add", lambda add: add.update(stats="{"))
    command = ["plot", path, "--by", "x,y", "--kind", "history", "-o", str(tmp_path / "p.svg")]

    def spark(options):
        raise ZCubeError("Spark draws it.")

    monkeypatch.setattr(engine, "open_table", spark)
    assert cli.main(command) == 1
    reason = "version 1: malformed statistics: "
    printed = capsys.readouterr().err.splitlines()
    assert printed[0].startswith(f"zcube: Spark reads the log: {reason}")
    assert printed[1:] == ["zcube: Spark draws it."]
    assert cli.main([*command, "--engine", "log"]) == 1
    assert f"zcube: --engine log can't do this: {reason}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["quality", "report", "plot"])
def test_the_log_engine_needs_neither_pyspark_nor_java(tmp_path, command):
    path = str(tmp_path / "t")
    files = {"quality": [], "report": ["-o", "out.html"], "plot": ["-o", "out.svg"]}
    for start in (0, 5):
        numbers = range(start, start + 10)
        write_deltalake(path, pyarrow.table({"x": [*numbers], "y": [*numbers]}), mode="append")
    program = (
        "import sys; from zcube import cli; code = cli.main(sys.argv[1:])\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules})); sys.exit(code)"
    )
    arguments = [command, path, "--by", "x,y", "--engine", "log"]
    environment = {**os.environ, "PATH": str(tmp_path), "MPLCONFIGDIR": str(tmp_path)}
    environment.pop("JAVA_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments, *files[command]],
        capture_output=True, text=True, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *_, loaded = done.stdout.splitlines()
    assert {"zcube", "deltalake"} <= set(loaded.split())
    assert not {"pyspark", "py4j"} & set(loaded.split())


def log_command(path, *arguments, **how):
    """Run a command that doesn't start Spark."""
    command = [sys.executable, "-m", "zcube", *arguments, path, "--engine", "log"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, **how)


def test_a_reader_may_have_read_enough(tmp_path):
    path = str(tmp_path / "t")
    write_deltalake(path, pyarrow.table({"x": [1]}))
    for bound, code, note in (
        ("0", 0, b""),
        ("0.5", 1, b"skipping effectiveness of all columns (*) is 0.00"),
    ):
        command = log_command(
            path, "quality", "--by", "x", "--min-skipping", bound, stdout=subprocess.PIPE
        )
        command.stdout.close()
        error = command.stderr.read()
        assert (command.wait(), error.count(b"\n")) == (code, code)
        assert note in error


def test_notes_are_not_in_the_result_where_standard_error_is_closed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    output.note("x")
    assert capsys.readouterr().out == ""


def test_a_full_disk_is_one_line(tmp_path):
    path = str(tmp_path / "t")
    write_deltalake(path, pyarrow.table({"x": [1]}))
    with open("/dev/full", "w") as full:
        command = log_command(path, "quality", "--by", "x", stdout=full)
        error = command.stderr.read().decode()
        assert command.wait() == 1
    assert error == "zcube: The result can't be printed: [Errno 28] No space left on device.\n"


def test_a_terminal_may_lack_characters(tmp_path):
    path = str(tmp_path / "t")
    write_deltalake(path, pyarrow.table({"ü": [1]}))
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = log_command(path, "quality", "--by", "ü", stdout=subprocess.PIPE, env=ascii_only)
    out, error = command.communicate()
    assert (command.returncode, error) == (0, b"")
    assert rb"`\xfc`" in out
    shown = subprocess.run(
        [sys.executable, "-m", "zcube", "plan", "--help"], env=ascii_only, capture_output=True
    )
    assert shown.returncode == 0
    assert rb"COLUMN,\u2026" in shown.stdout


def test_a_committed_run_is_a_success_although_printing_fails(monkeypatch, capsys):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    class Table:
        def optimize(self, **how):
            return "the result"

    monkeypatch.setattr("zcube.cli.optimize.open_table", lambda options: nullcontext(Table()))
    monkeypatch.setattr(sys, "stdout", Full())
    assert cli.main(["optimize", "/x", "--zorder-by", "x"]) == 0
    why = "The result can't be printed: [Errno 28] No space left on device."
    assert capsys.readouterr().err == f"zcube: {why} The run itself is complete.\n"
    assert cli.main(["plan", "/x", "--zorder-by", "x"]) == 1
    assert capsys.readouterr().err == f"zcube: {why}\n"


def test_a_spark_that_does_not_stop_changes_no_result(monkeypatch):
    class Session:
        def stop(self):
            raise RuntimeError("the JVM is gone")

        getOrCreate = lambda self: self  # noqa: E731, N815

    monkeypatch.setattr("zcube.session.configure", lambda builder: Session())
    options = cli._parser().parse_args(["plan", "/x"])
    with cli.arguments.start_session(options):
        pass


@pytest.mark.parametrize(
    ("words", "defaults", "shown"),
    [
        ([], "", "false"),
        (["--conf", "spark.ui.enabled=true"], "", "true"),
        ([], "spark.ui.enabled true", None),  # as Spark has it then
        (["--remote", "sc://host"], "", None),
    ],
)
def test_spark_opens_its_web_pages_only_if_asked(monkeypatch, tmp_path, words, defaults, shown):
    class Session:
        def stop(self):
            pass

        getOrCreate = lambda self: self  # noqa: E731, N815

    monkeypatch.setattr(connect, "silence_of", lambda server: None)
    given = {}

    def configure(builder):
        given.update(builder._options)
        return Session()

    (tmp_path / "spark-defaults.conf").write_text(defaults)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    monkeypatch.setattr("zcube.session.configure", configure)
    with cli.arguments.start_session(cli._parser().parse_args(["plan", "/x", *words])):
        assert given.get("spark.ui.enabled") == shown


@pytest.mark.parametrize("command", ["plot", "report"])
def test_an_output_that_can_not_be_written_is_rejected_first(
    tmp_path, monkeypatch, capsys, command
):
    monkeypatch.setattr(engine, "read", None)
    output = tmp_path / f"{'a' * 300}.svg"
    assert cli.main([command, "/x", "--by", "x,y", "-o", str(output)]) == 1
    assert capsys.readouterr().err == f"zcube: {output} can't be written: File name too long.\n"


def test_trying_to_write_leaves_no_file_and_changes_none(tmp_path):
    (tmp_path / "old.svg").write_text("old")
    for name in ("old.svg", "new.svg"):
        assert pictures._writable(str(tmp_path / name)) == tmp_path / name
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("old.svg", "old")]


def test_trying_to_write_keeps_links_and_what_they_lead_to(tmp_path):
    (tmp_path / "old").write_text("old")
    for name, target in (("to_old.svg", "old"), ("to_new.svg", "new"), ("again.svg", "to_new.svg")):
        (tmp_path / name).symlink_to(target)
    for name in ("to_old.svg", "to_new.svg", "again.svg"):
        assert pictures._writable(str(tmp_path / name)) == tmp_path / name
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "again.svg", "old", "to_new.svg", "to_old.svg",
    ]  # fmt: skip
    assert (tmp_path / "to_new.svg").is_symlink()
    assert (tmp_path / "old").read_text() == "old"
    for name, target in (("a.svg", "b.svg"), ("b.svg", "a.svg")):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "lost.svg").symlink_to(tmp_path / "nowhere" / "x")
    for name in ("a.svg", "lost.svg"):
        with pytest.raises(ZCubeError, match=r"\.svg can't be written: "):
            pictures._writable(str(tmp_path / name))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_trying_to_write_opens_no_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.svg")
    reader = os.open(tmp_path / "pipe.svg", os.O_RDONLY | os.O_NONBLOCK)
    try:
        pictures._writable(str(tmp_path / "pipe.svg"))
        # Who opened and closed it would leave a hang-up.
        poll = select.poll()
        poll.register(reader)
        assert not poll.poll(0)
        # As /dev/stdout, a link to a pipe may have no name.
        link = f"/dev/fd/{reader}"
        assert not os.path.exists(link) or str(pictures._writable(link)) == link
    finally:
        os.close(reader)


def test_a_shell_completes_the_options(capsys, tmp_path):
    script = tmp_path / "zcube.bash"
    code, out, _ = run_here(capsys, "completion", "bash")
    assert code == 0
    script.write_text(out, encoding="utf-8")
    ask = f"source {script}; COMP_WORDS=(zcube quality --max); COMP_CWORD=2; "
    ask += '_shtab_zcube; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True)
    assert done.stdout.split() == ["--max-depth"], done.stderr
    for shell in ("zsh", "tcsh"):
        code, out, _ = run_here(capsys, "completion", shell)
        assert code == 0
        assert "min-skipping" in out


def test_every_command_has_an_example_and_json(capsys):
    (commands,) = (
        action.choices
        for action in cli._parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    assert {"optimize", "recommend", "completion"} <= set(commands)
    for command in commands:
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        shown = capsys.readouterr().out
        # Completion prints nothing but a shell script.
        assert ("--json" in shown) == (command != "completion")
        assert f"example: zcube {command}" in shown
    with pytest.raises(SystemExit) as stop:
        cli.main(["plan", "/x", "--master", "local", "--remote", "sc://h"])
    assert stop.value.code == 2


def test_a_server_that_does_not_answer_is_named(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("localhost", 0)) as server:
        url = f"sc://localhost:{server.getsockname()[1]}/;use_ssl=false"
        assert connect.silence_of(url) is None
    silence = connect.silence_of(url)
    assert silence.startswith(f"nothing answers at {url[5:].split('/')[0]} (Connection refused), ")
    # What is wrong with a URL, PySpark says.
    assert connect.silence_of("sc://localhost:port") is None
    assert connect.silence_of("sc://my..host") is None
    assert connect.server_of({"spark.remote": "local[2]"}) is None
    monkeypatch.setenv("grpc_proxy", "http://proxy:3128")
    assert connect.silence_of(url) == silence
    assert connect.silence_of("sc://beyond.example") is None


def test_a_path_that_python_could_not_decode_is_named(capsys):
    assert cli.main(["quality", os.fsdecode(b"/tmp/\xff")]) == 1
    assert "isn't text in UTF-8. Set a locale with UTF-8" in capsys.readouterr().err
    assert cli.main(["quality", "--name", os.fsdecode(b"t\xff")]) == 1
    assert capsys.readouterr().err.startswith("zcube: The name 't\\udcff' isn't text in UTF-8.")


@pytest.mark.parametrize("chosen", ["auto", "log", "spark"])
def test_an_empty_path_is_not_the_current_folder(capsys, tmp_path, monkeypatch, chosen):
    written_log.write(tmp_path, json.dumps({"type": "struct", "fields": []}), [])
    monkeypatch.chdir(tmp_path)
    assert cli.main(["quality", "--engine", chosen, ""]) == 1
    assert capsys.readouterr().err == "zcube: The path of the table is empty.\n"


def test_a_server_named_by_the_environment_means_spark(tmp_path, monkeypatch):
    (tmp_path / "_delta_log").mkdir()
    options = argparse.Namespace(
        engine="auto", table=str(tmp_path), name=False, master=None, remote=None, conf=[]
    )

    def read():
        return engine.read(options, lambda log: log)

    table = ClusteredTable.for_path(None, str(tmp_path))
    monkeypatch.setattr(engine, "open_table", lambda _: nullcontext(table))
    monkeypatch.setattr(engine, "_open_log", lambda path: f"the log of {path}")
    assert read() == f"the log of {tmp_path}"
    monkeypatch.setenv("SPARK_REMOTE", "sc://host")
    assert read() is table._log


@pytest.mark.parametrize("option", ["--by", "--zorder-by"])
def test_columns_of_one_option_and_of_several_are_joined(option):
    command = "quality" if option == "--by" else "optimize"
    options = cli._parser().parse_args([command, "/x", option, "a, b", option, "c"])
    assert vars(options)[option.strip("-").replace("-", "_")] == ["a", "b", "c"]


def test_a_comma_in_backquotes_belongs_to_a_name():
    options = cli._parser().parse_args(["quality", "/x", "--by", "`a,b`, x.`c,d`,`e``,f`,g`h,i"])
    assert options.by == ["`a,b`", "x.`c,d`", "`e``,f`", "g`h", "i"]
    options = cli._parser().parse_args(["optimize", "/x", "--weights", "`a,b`=2,`c=d`=3,e=1"])
    assert options.weights == {"`a,b`": 2.0, "`c=d`": 3.0, "e": 1.0}


@pytest.mark.parametrize(
    ("command", "option", "values"),
    [
        ("optimize", "--where", ("day = 1", "day = 1")),
        ("optimize", "--workload", ("a", "b")),
        ("optimize", "--weights", ("x=3", "y=1")),
        ("plan", "--curve", ("kdtree", "hilbert")),
        ("report", "--predicate", ("x > 1", "y > 1")),
        ("quality", "--engine", ("auto", "spark")),
        ("quality", "--max-depth", ("4", "5")),
        ("recommend", "--queries", ("a", "b")),
        ("doctor", "--master", ("local", "local[2]")),
    ],
)
def test_an_option_with_one_value_is_not_silently_overridden(capsys, command, option, values):
    table = [] if command == "doctor" else ["/x"]
    with pytest.raises(SystemExit) as stop:
        cli.main([command, *table, *(word for value in values for word in (option, value))])
    assert stop.value.code == 2
    assert re.search(rf"error: argument (-\w+/)?{option}.*: given twice", capsys.readouterr().err)


def test_a_column_has_one_weight(capsys):
    with pytest.raises(SystemExit):
        cli.main(["optimize", "/x", "--zorder-by", "x", "--weights", "x=3,x=1"])
    assert "argument --weights: names the column x twice" in capsys.readouterr().err


def test_the_arguments_of_optimize_are_options_that_reach_it(tmp_path):
    (tmp_path / "queries").write_text("3 | x = 5\ny < 7\n")
    given = {
        "zorder_by": ("x,y", ["x", "y"]),
        "where": ("day = 1", "day = 1"),
        "full": (None, True),
        "curve": ("kdtree", "kdtree"),
        "weights": ("x=3,y=1", {"x": 3.0, "y": 1.0}),
        "workload": (str(tmp_path / "queries"), [("x = 5", 3.0), ("y < 7", 1.0)]),
        "merge_policy": ("all", "all"),
        "max_bytes": ("10g", "10g"),
        "max_duration": ("90s", "90s"),
        "min_cube_size": ("1g", "1g"),
        "target_cube_size": ("2g", "2g"),
        "max_file_size": ("1m", "1m"),
    }
    # The one is another command; the others are for programs.
    python_only = {"self", "dry_run", "forecast", "measure", "progress"}
    assert (
        given.keys() | python_only == inspect.signature(ClusteredTable.optimize).parameters.keys()
    )
    words = [w for name, (text, _) in given.items() for w in ("--" + name.replace("_", "-"), text)]
    for command in ("optimize", "plan"):
        options = cli._parser().parse_args([command, "/x", *(w for w in words if w is not None)])
        assert _how_to_optimize(options) == {name: value for name, (_, value) in given.items()}
        options = cli._parser().parse_args([command, "/x"])
        assert not any(_how_to_optimize(options).values())


def test_options_of_optimize_are_explained_as_its_arguments_are(capsys):
    with pytest.raises(SystemExit):
        cli.main(["optimize", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--max-bytes BYTES rewrite at most this many bytes now, the most useful first" in shown
    assert "with --zorder-by, rewrite every file" in shown
    assert "``" not in shown
