"""RECOMMEND CLUSTERING and recommend(): compares its predictions for queries with what Spark really reads.

``make soak`` builds all layouts of a larger table: ``ZCUBE_ADVISOR_SCALE`` is TPC-H's scale factor.
"""

import gzip
import io
import json
import os
import random
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
import zstandard
from pyspark.errors import AnalysisException
from zcube import ClusteredTable, ZCubeError, cli
from zcube._log.spark import SparkLog
from zcube._spark import event_log, gateway, pushed_filters
from zcube.demo.data import lineitem, write_table

from tests.support import jars
from tests.support.log_replay import last_version, live_files
from tests.support.tpch import PREDICATES, QUERIES

SCALE = os.environ.get("ZCUBE_ADVISOR_SCALE")
TARGET = "spark.databricks.delta.optimize.maxFileSize"


@pytest.fixture(scope="module")
def lineitem_rows(tmp_path_factory):
    return lineitem(tmp_path_factory.mktemp("tpch"), float(SCALE or 0.02))


def points(spark, path, count=20_000, files=8):
    rows = spark.range(0, count, 1, files).selectExpr(
        "id",
        "pmod(hash(id), 1000) x",
        "pmod(hash(id, 1), 1000) y",
        "date_add(date '2026-01-01', cast(pmod(hash(id, 2), 100) as int)) d",
        "concat('s', pmod(hash(id, 3), 50)) s",
    )
    rows.write.format("delta").save(path)
    spark.conf.set(TARGET, str(16 << 10))
    return ClusteredTable.for_path(spark, path)


def bytes_read(table, predicates):
    """Sum up what Spark's own scan reads, from the sizes of the files on disk."""
    files = [file for predicate in predicates for file in table.files_read(predicate)]
    return sum(Path(unquote(urlparse(file).path)).stat().st_size for file in files)


@pytest.mark.long
def test_the_first_choice_really_built_is_near_the_best_really_built(
    spark, tmp_path, lineitem_rows
):
    path = str(tmp_path / "lineitem")
    write_table(spark, lineitem_rows, path)
    spark.conf.set(TARGET, str(64 << 10))
    table = ClusteredTable.for_path(spark, path)
    scans = [predicate for query in PREDICATES.values() for predicate in query]
    advice = table.recommend(list(QUERIES.values()))
    assert advice.today.bytes_read == bytes_read(table, scans)
    assert [query.scans for query in advice.today.queries] == [len(p) for p in PREDICATES.values()]
    real = []
    for layout in advice.layouts if SCALE else some(advice.layouts):
        for statement in layout.statements:
            spark.sql(statement).collect()
        real.append(bytes_read(table, scans))
        assert layout.bytes_read == pytest.approx(real[-1], rel=0.15), layout.summary
    assert real[0] <= 1.1 * min(real)
    assert real[0] < 0.5 * advice.today.bytes_read


def some(layouts):
    """Choose the first layout for each of three sets of columns."""
    by_columns = {}
    for layout in layouts:
        by_columns.setdefault(frozenset(layout.columns), layout)
    return list(by_columns.values())[:3]


def test_the_figures_add_up_and_nothing_is_written(spark, path):
    table = points(spark, path)
    version = last_version(path)
    queries = {"SELECT count(*) FROM table WHERE x = 5": 3, "y BETWEEN 10 AND 20": 1}
    advice = table.recommend(queries)
    assert last_version(path) == version
    whole = sum(file.size for file in live_files(path))
    assert advice.today.bytes_read == 4 * whole
    best = advice.best
    assert best is advice.layouts[0]
    assert set(best.columns) <= {"x", "y"}
    assert best.bytes_rewritten == whole
    assert best.share_of_today == pytest.approx(best.bytes_read / (4 * whole))
    assert best.summary.startswith(f"by ({', '.join(best.columns)}), {best.curve}")
    assert "costs one rewrite of" in best.summary
    assert [layout.bytes_read for layout in advice.layouts[1:]] == sorted(
        layout.bytes_read for layout in advice.layouts[1:]
    )
    assert {query.query: query.weight for query in best.queries} == queries
    assert best.bytes_read == sum(query.weight * query.bytes_read for query in best.queries)
    # x is queried three times as often, and columns that no query uses are ignored.
    assert best.columns[0] == "x"
    assert all(set(layout.columns) <= {"x", "y"} for layout in advice.layouts)
    assert any(layout.weights for layout in advice.layouts)
    for layout in advice.layouts:
        spark.sql(f"{layout.statements[0]} DRY RUN").collect()
    assert best.statements[0] in str(advice)
    assert "as it is" in advice._repr_html_()
    assert json.loads(json.dumps(advice.to_dict()))["worthwhile"] is True


def test_a_clustered_table_is_altered_and_one_that_is_well_is_left_alone(spark, name):
    spark.sql(f"CREATE TABLE {name} (id BIGINT, x INT, s STRING) USING delta CLUSTER BY (id)")
    spark.range(0, 20_000, 1, 4).selectExpr(
        "id", "pmod(hash(id), 1000) x", "concat('s', pmod(hash(id, 3), 50)) s"
    ).write.format("delta").mode("append").saveAsTable(name)
    spark.conf.set(TARGET, str(16 << 10))
    table = ClusteredTable.for_name(spark, name)
    best = table.recommend([f"SELECT * FROM {name} WHERE s = 's7'", "x < 20"]).best
    alter, optimize = best.statements
    assert alter.startswith("ALTER TABLE")
    assert "CLUSTER BY" in alter
    assert "FULL OPTIONS ('curve' = " in optimize
    spark.sql(alter).collect()
    spark.sql(optimize).collect()
    assert table.clustering_columns == best.columns
    advice = table.recommend([f"SELECT * FROM {name} WHERE s = 's7'", "x < 20"])
    assert advice.best is None
    assert advice.today.summary.endswith("clustering isn't worth it for these queries")
    assert str(advice).startswith("as it is")


def test_partitions_and_columns_without_statistics_are_predicted_and_not_proposed(spark, path):
    rows = spark.range(0, 20_000, 1, 2).selectExpr(
        "id % 4 p", "pmod(hash(id), 1000) x", "struct(pmod(hash(id, 1), 500) b) a", "hex(id) last"
    )
    rows.write.format("delta").option("delta.dataSkippingStatsColumns", "x,a").partitionBy(
        "p"
    ).save(path)
    spark.conf.set(TARGET, str(8 << 10))
    table = ClusteredTable.for_path(spark, path)
    advice = table.recommend(["p = 1 AND a.b < 20", "p = 2 AND last = 'FF'"])
    by_query = {query.query: query.bytes_read for query in advice.today.queries}
    quarter = sum(file.size for file in live_files(path) if file.partition["p"] == "2")
    assert by_query["p = 2 AND last = 'FF'"] == quarter
    assert {tuple(layout.columns) for layout in advice.layouts} == {("a.b",)}
    # Only files of one partition are read, whatever the layout.
    assert advice.layouts[0].queries[1].bytes_read == pytest.approx(quarter, rel=0.1)
    assert advice.layouts[0].queries[0].bytes_read < quarter / 4
    spark.sql(advice.best.statements[0]).collect()
    real = bytes_read(table, ["p = 1 AND a.b < 20", "p = 2 AND last = 'FF'"])
    assert advice.best.bytes_read == pytest.approx(real, rel=0.15)


def test_unsupported_queries_and_conditions_are_reported(spark, path):
    table = points(spark, path, 4000, 2)
    advice = table.recommend(
        [
            "SELECT * FROM nowhere WHERE x = 1",
            "SELECT * FROM table t JOIN nowhere n ON t.id = n.id WHERE t.x = 1 AND n.z > 0",
            "x = y AND d = '2026-01-05'",
            "DELETE FROM table WHERE x = 1",
            "SELECT 1",
            "SELECT * FROM table WHERE z = 1",
            "(x = 1 OR d = date '2026-01-05');",
        ]
    )
    unknown, joined, compared, delete, other, wrong, either = advice.today.queries
    assert [q.scans for q in advice.today.queries] == [0, 1, 1, 0, 0, 1, 1]
    assert "`nowhere`" in unknown.notes[0]
    assert "1 of 3 conditions" in joined.notes[0]
    assert "counts as true" in compared.notes[0]
    assert delete.notes[0].startswith("can't be read: ")
    assert "doesn't read the table" in other.notes[0]
    assert "0 of 1 conditions" in wrong.notes[0]
    assert not either.notes
    assert len(advice.notes) == 6
    assert last_version(path) == 0
    assert all(note in str(advice) for note in advice.notes)
    with pytest.raises(AnalysisException) as rejection:
        table.recommend(["SELECT * FROM nowhere"])
    assert rejection.value.getCondition() == "ZCUBE_RECOMMEND_NOTHING_UNDERSTOOD"
    assert "nowhere" in str(rejection.value)
    unfiltered = table.recommend(["SELECT * FROM table"])
    assert (unfiltered.layouts, unfiltered.best) == ([], None)
    assert "no query filters by a column" in unfiltered.today.summary
    for queries in ([], [""], [5], [("x = 1", 0)], [("x = 1", "much")], [("x", float("inf"))]):
        with pytest.raises(ZCubeError):
            table.recommend(queries)
    spark.conf.set("spark.zcube.enabled", "false")
    assert table.recommend(["x = 1"]).layouts


@pytest.mark.long
def test_the_same_table_gives_the_same_advice(spark, path):
    table = points(spark, path, 6000, 3)
    queries = ["x < 50 AND s = 's3'", "d = date '2026-02-01'", "y IN (1, 2, 900)", "s LIKE 's1%'"]
    assert table.recommend(queries) == table.recommend(queries)


LOGGED = """
import sys
from pyspark.sql import SparkSession
import zcube
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.databricks.delta.snapshotPartitions", "2")
builder = builder.config("spark.jars", sys.argv[3])
for key, value in (("enabled", "true"), ("compress", "true"), ("dir", sys.argv[2])):
    builder = builder.config(f"spark.eventLog.{key}", value)
spark = zcube.configure(builder).getOrCreate()
table = spark.read.format("delta").load(sys.argv[1])
table.where("x < 20 AND s LIKE 's1%'").collect()
table.where("x < 20 AND s LIKE 's1%'").count()
table.where("d IN (date '2026-01-05', date '2026-01-07') OR y = 3").collect()
table.where("id % 2 = 1").select("id").collect()
table.select("x").collect()
spark.stop()
"""


@pytest.mark.long
def test_the_command_advises_as_python_from_queries_and_from_an_event_log(
    spark, path, tmp_path, capsys, monkeypatch
):
    points(spark, path, 6000, 3)
    logs = tmp_path / "logs"
    logs.mkdir()
    command = [sys.executable, "-c", LOGGED, path, logs.as_uri(), jars.of_session()]
    subprocess.run(command, check=True, timeout=300)
    with pytest.raises(ZCubeError, match="compressed"):
        event_log.read(logs, path)
    log = event_log.read(logs, path, gateway.open_event_log)
    assert log.scans == 5
    (packed,) = logs.rglob("events_*.zstd")
    with gateway.open_event_log(packed) as stream:
        (tmp_path / "plain").write_bytes(stream.read())
    assert event_log.read(tmp_path / "plain", path) == log
    x, d = log.predicates.most_common()
    assert x[1] == 2
    assert "`x` < CAST('20' AS int)" in x[0]
    assert "startswith(`s`, 's1')" in x[0]
    assert "`d` IN (CAST('2026-01-05' AS date)" in d[0]
    (unsupported,) = log.unsupported
    assert "% 2) = 1" in unsupported
    table = ClusteredTable.for_path(spark, path)
    of_log = table.recommend(dict(log.predicates))
    by_hand = {
        "x < 20 AND s LIKE 's1%'": 2,
        "d IN (date '2026-01-05', date '2026-01-07') OR y = 3": 1,
    }
    assert not of_log.notes
    assert [layout.summary for layout in of_log.layouts] == [
        layout.summary for layout in table.recommend(by_hand).layouts
    ]
    assert event_log.read(tmp_path / "plain", path + "2").scans == 0

    queries = tmp_path / "queries.sql"
    queries.write_text("-- weight: 2\nSELECT * FROM table WHERE x < 20;\n-- all of it\ny = 3;\n")
    # A separate Spark would take as long again; tests/interface/test_cli.py starts one for each command.
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(table))
    weighted = table.recommend({"SELECT * FROM table WHERE x < 20": 2, "y = 3": 1})
    for source, advice in (
        (["--queries", str(queries)], weighted),
        (["--event-log", str(logs)], of_log),
    ):
        assert cli.main(["recommend", path, "--json", *source]) == 0
        printed = capsys.readouterr()
        assert json.loads(printed.out) == json.loads(json.dumps(advice.to_dict()))
    assert "5 scans of the table in the log, 3 with supported filters" in printed.err
    assert cli.main(["recommend", path, "--queries", str(queries)]) == 0
    assert capsys.readouterr().out == f"{weighted}\n"


def test_unsupported_filters_of_an_event_log_are_reported(spark, tmp_path, capsys, monkeypatch):
    path = str(tmp_path / "t")
    rows = spark.range(100).selectExpr("id", "id % 3 p", "concat('a, ', id % 5) s")
    rows.write.format("delta").partitionBy("p").save(path)
    metadata = {
        "Location": f"PreparedDeltaFileIndex(1 paths)[file:{path}]",
        "ReadSchema": "struct<id:bigint,s:string>",
        "PartitionFilters": "[isnotnull(p#1), (p#1 = 2)]",
        "PushedFilters": "[In(s, [a, 1,a, 2]), LessThan(id,7)]",
    }
    start = {"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": {"metadata": metadata}}
    with gzip.open(tmp_path / "log.gz", "wt") as log:
        log.write(json.dumps(start))
    table = ClusteredTable.for_path(spark, path)
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(table))
    assert cli.main(["recommend", path, "--event-log", str(tmp_path / "log.gz"), "--json"]) == 0
    printed = capsys.readouterr()
    assert "1 unsupported filter of the kind In: In(s, [a, 1,a, 2])\n" in printed.err
    assert "filters by partition columns in 1 scan, which" in printed.err
    (query,) = json.loads(printed.out)["today"]["queries"]
    assert query["query"] == "`id` < CAST('7' AS bigint)"


SCHEMA = (
    "struct<x:bigint,s:string,t:timestamp,n:timestamp_ntz,d:date,dc:decimal(12,2),f:double,b:binary,"
    "ok:boolean,a:struct<b:int,c:struct<c.d:int>>>"
)


def logged(tmp_path, filters, zone=None, **metadata):
    """Return what ``event_log.read`` finds in the log of one scan, as Spark writes it."""
    scan = {
        "Location": "PreparedDeltaFileIndex(1 paths)[file:/data/events]",
        "ReadSchema": SCHEMA,
        "PartitionFilters": "[]",
        "PushedFilters": filters,
        **metadata,
    }
    driver = {
        "Event": "SparkListenerEnvironmentUpdate",
        "System Properties": {} if zone is None else {"user.timezone": zone},
    }
    start = {"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": {"metadata": scan}}
    file = tmp_path / "log"
    file.write_text(f"{json.dumps(driver)}\n{json.dumps(start)}\n", encoding="utf-8")
    return event_log.read(file, "/data/events")


def test_what_can_be_read_of_a_damaged_log_counts(tmp_path):
    (tmp_path / "whole").mkdir()
    assert logged(tmp_path / "whole", "[EqualTo(x,1)]").scans == 1
    text = (tmp_path / "whole" / "log").read_bytes()
    deep = b'{"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": ' + b"[" * 100_000 + b"\n"
    noise = random.Random(5).randbytes(100_000).hex().encode()
    packed = gzip.compress(text + deep + text + noise)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.gz").write_bytes(packed[: len(packed) // 2])
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    (tmp_path / "logs" / "b.gz").write_bytes(damaged)
    odd = b'["SparkListenerSQLExecutionStart"]\n'
    none = b'{"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": null}\n'
    number = b'{"SparkListenerSQLExecutionStart": ' + b"9" * 5000 + b"}\n"
    (tmp_path / "logs" / "d").write_bytes(odd + none + number + text)
    found = event_log.read(tmp_path / "logs", "/data/events")
    assert found.predicates == {"`x` = CAST('1' AS bigint)": 5}
    assert [file.name for file in found.damaged] == ["a.gz", "b.gz"]
    (tmp_path / "logs" / "c.gz").write_bytes(b"no archive")
    with pytest.raises(OSError, match="gzip"):
        event_log.read(tmp_path / "logs", "/data/events")


@pytest.mark.parametrize(
    ("logged_filter", "predicate"),
    [
        ("EqualTo(s,<18)", "`s` = '<18'"),
        ("EqualTo(s,a, b)", "`s` = 'a, b'"),
        ("EqualTo(s,)", "`s` = ''"),
        # A list of one value would be EqualTo.
        ("In(s, [a,b])", "`s` IN ('a', 'b')"),
        ("In(s, [, a b])", "`s` IN ('', ' a b')"),
        ("Or(In(s, [a,b]),EqualTo(x,1))", "(`s` IN ('a', 'b') OR `x` = CAST('1' AS bigint))"),
        ("EqualTo(s,Subquery #1)", "`s` = 'Subquery #1'"),
        ("Not(EqualTo(s, a ))", "NOT (`s` = ' a ')"),
        ("EqualNullSafe(x,-3)", "`x` <=> CAST('-3' AS bigint)"),
        ("In(dc, [1.50,0E-2])", "`dc` IN (CAST('1.50' AS decimal(12,2)), CAST('0E-2' AS decimal(12,2)))"),
        ("EqualTo(f,NaN)", "`f` = CAST('NaN' AS double)"),
        ("LessThan(f,1.0E300)", "`f` < CAST('1.0E300' AS double)"),
        ("EqualTo(ok,true)", "`ok` = CAST('true' AS boolean)"),
        ("GreaterThan(n,2026-01-05T00:00)", "`n` > CAST('2026-01-05T00:00' AS timestamp_ntz)"),
        ("And(LessThan(a.b,1),IsNull(a.c.`c.d`))", "(`a`.`b` < CAST('1' AS int) AND `a`.`c`.`c.d` IS NULL)"),
        ("EqualTo(a.c.`c.d`,2)", "`a`.`c`.`c.d` = CAST('2' AS int)"),
    ],
)  # fmt: skip
def test_a_filter_of_an_event_log_becomes_a_predicate(tmp_path, logged_filter, predicate):
    log = logged(tmp_path, f"[{logged_filter}, GreaterThan(x,5)]")
    assert log.predicates == {f"{predicate} AND `x` > CAST('5' AS bigint)": 1}
    assert not log.unsupported


@pytest.mark.parametrize(
    "logged_filter",
    [
        "EqualTo(s,a(b)",
        "EqualTo(s,a)b)",
        "EqualTo(s,[a)",
        "Or(EqualTo(s,a)),EqualTo(x,1))",
        # Two strings, of which one has a comma, or three.
        "In(s, [a,b,c])",
        "In(s, [a,null])",
        "In(s, [null,a])",
        "In(s, [a,b(c])",
        "In(s, [a,ScalarSubquery#7])",
        # Java writes the address of binary values.
        "EqualTo(b,[B@1b764016)",
        "In(x, [1,null])",
        # What a subquery returns isn't logged.
        "EqualTo(s,ScalarSubquery#123)",
        "LessThan(s,Subquery#7)",
        "StringStartsWith(s,subquery#7)",
        "EqualTo(x,one)",
        "EqualTo(unknown,1)",
        "StringEndsWith(s,a)",
    ],
)
def test_a_filter_whose_meaning_is_uncertain_affects_no_other(tmp_path, logged_filter):
    log = logged(tmp_path, f"[IsNotNull(s), {logged_filter}, GreaterThan(x,5)]")
    assert log.predicates == {"`s` IS NOT NULL AND `x` > CAST('5' AS bigint)": 1}
    assert log.unsupported == {logged_filter: 1}


def test_a_scan_that_lost_its_filter_is_not_supported_by_is_not_null(tmp_path):
    lost = logged(tmp_path, "[IsNotNull(s), IsNotNull(x), StringEndsWith(s,a)]")
    assert (lost.scans, lost.unsupported.total()) == (1, 1)
    assert not lost.predicates
    # Spark adds it for joins, too.
    joined = logged(tmp_path, "[IsNotNull(s)]", DataFilters="[isnotnull(s#1)]")
    assert (joined.scans, joined.unsupported.total(), len(joined.predicates)) == (1, 0, 0)
    # What can't be pushed down is only in the data filters.
    data = "isnotnull(s#1), (upper(s#1) = A)"
    other = logged(tmp_path, "[IsNotNull(s)]", DataFilters=f"[{data}]")
    assert (dict(other.unsupported), len(other.predicates)) == ({data: 1}, 0)
    assert logged(tmp_path, "[IsNull(s), StringEndsWith(s,a)]").predicates == {"`s` IS NULL": 1}


class TableAt(SparkLog):
    """A table whose location alone is known."""

    location = ""
    over_connect = True

    def __init__(self, location):
        super().__init__(None, location, location)
        self.location = location


def test_a_damaged_log_is_noted(tmp_path, capsys, monkeypatch):
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(b"{}")[:-9])
    table = TableAt("/data/events")
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(table))
    assert cli.main(["recommend", "/data/events", "--event-log", str(log)]) == 1
    note, error = capsys.readouterr().err.splitlines()
    assert note == (
        f"zcube: {log} breaks off or is damaged; only the queries before that place count"
    )
    assert error.startswith(f"zcube: No scan in {log} is at /data/events")


def test_notes_of_unsupported_filters_are_few_and_short(tmp_path, capsys, monkeypatch):
    found = event_log.ScanLog(scans=6000)
    for i in range(4000):
        found.unsupported[f"In(s, [{i},{','.join('abcdef' * 100)}])"] += 1
    found.unsupported["StringEndsWith(s,a\nb)"] += 2
    found.unsupported["EqualTo(s,a), EqualTo(x,5)"] += 1
    monkeypatch.setattr(event_log, "read", lambda *_: found)
    table = TableAt("/data/events")
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(table))
    assert cli.main(["recommend", "/data/events", "--event-log", str(tmp_path)]) == 1
    kinds = capsys.readouterr().err.splitlines()
    assert kinds[0].startswith("zcube: 4000 unsupported filters of the kind In: In(s, [0,a,b,c")
    assert kinds[0].endswith("…; …")
    assert len(kinds[0]) < 320
    assert kinds[1:] == [
        "zcube: 2 unsupported filters of the kind StringEndsWith: StringEndsWith(s,a b)",
        "zcube: 1 unsupported filter of the kind several: EqualTo(s,a), EqualTo(x,5)",
        "zcube: 6000 scans of the table in the log, 0 with supported filters",
        f"zcube: No scan in {tmp_path} has supported filters on /data/events. Give logs of queries "
        "on this table.",
    ]


def test_a_string_that_looks_like_two_filters_is_uncertain(tmp_path):
    filters = "[IsNotNull(s), EqualTo(s,a), EqualTo(x,5)]"
    one_string = "[isnotnull(s#1), (s#1 = a), EqualTo(x,5)]"
    assert not logged(tmp_path, filters, DataFilters=one_string).predicates
    assert logged(
        tmp_path, filters, DataFilters="[isnotnull(s#1), (s#1 = a), (x#2 = 5)]"
    ).predicates


@pytest.mark.parametrize(
    ("zone", "time", "in_utc"),
    [
        ("America/New_York", "2026-01-05 00:00:00.0", "2026-01-05 05:00:00.0Z"),
        ("Etc/UTC", "2026-01-05 00:00:00.000001", "2026-01-05 00:00:00.000001Z"),
        ("UTC", "2026-01-05 00:00:00.0", "2026-01-05 00:00:00.0Z"),
        ("GMT", "2026-01-05 00:00:00.0", "2026-01-05 00:00:00.0Z"),
        ("Z", "2026-01-05 00:00:00.0", "2026-01-05 00:00:00.0Z"),
        ("GMT+2", "2026-01-05 00:00:00.0", "2026-01-04 22:00:00.0Z"),
        ("GMT-08:00", "2026-01-05 00:00:00.0", "2026-01-05 08:00:00.0Z"),
        ("GMT+05:30", "2026-01-05 00:00:00.0", "2026-01-04 18:30:00.0Z"),
        ("GMT+24", "2026-01-05 00:00:00.0", None),
        ("GMT+5:3", "2026-01-05 00:00:00.0", None),
        (None, "2026-01-05T00:00:00.5Z", "2026-01-05T00:00:00.5Z"),
        # The clocks were put back, or put forward.
        ("Europe/Berlin", "2026-10-25 02:30:00.0", None),
        ("Europe/Berlin", "2026-03-29 02:30:00.0", None),
        (None, "2026-01-05 00:00:00.0", None),
        ("", "2026-01-05 00:00:00.0", None),
        ("Nowhere/City", "2026-01-05 00:00:00.0", None),
        ("Etc/UTC", "2026-01-05", None),
    ],
)
def test_times_in_an_event_log_are_in_the_zone_of_its_driver(tmp_path, zone, time, in_utc):
    log = logged(tmp_path, f"[GreaterThan(t,{time}), EqualTo(x,1)]", zone)
    greater = "" if in_utc is None else f"`t` > CAST('{in_utc}' AS timestamp) AND "
    assert log.predicates == {f"{greater}`x` = CAST('1' AS bigint)": 1}
    assert len(log.unsupported) == (in_utc is None)


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "GMT", "Z", "GMT+00:00"])
def test_utc_needs_no_database_of_time_zones(tmp_path, monkeypatch, zone):
    monkeypatch.setattr(pushed_filters, "ZoneInfo", lambda name: {}[name])
    assert logged(tmp_path, "[GreaterThan(t,2026-01-05 00:00:00.0)]", zone).predicates == {
        "`t` > CAST('2026-01-05 00:00:00.0Z' AS timestamp)": 1
    }


def test_the_parts_of_a_rolled_log_are_in_one_zone(tmp_path):
    driver = {"Event": "SparkListenerEnvironmentUpdate"}
    scan = {
        "Location": "TahoeLogFileIndex(1 paths)[s3://b/t]",
        "ReadSchema": SCHEMA,
        "PushedFilters": "[LessThan(t,2026-01-05 00:00:00.0)]",
    }
    start = json.dumps(
        {"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": {"metadata": scan}}
    )
    for application, zone in (("app-1", "Asia/Tokyo"), ("app-2", "Etc/UTC")):
        folder = tmp_path / f"eventlog_v2_{application}"
        folder.mkdir()
        first = json.dumps({**driver, "System Properties": {"user.timezone": zone}})
        (folder / f"events_1_{application}").write_text(first)
        (folder / f"events_10_{application}.inprogress").write_text(start)
    assert event_log.read(tmp_path, "s3://b/t/").predicates == {
        "`t` < CAST('2026-01-04 15:00:00.0Z' AS timestamp)": 1,
        "`t` < CAST('2026-01-05 00:00:00.0Z' AS timestamp)": 1,
    }


def test_a_rolled_log_begins_at_its_newest_compact_file(tmp_path):
    def start(value):
        scan = {
            "Location": "TahoeLogFileIndex(1 paths)[s3://b/t]",
            "ReadSchema": SCHEMA,
            "PushedFilters": f"[EqualTo(x,{value})]",
        }
        return json.dumps(
            {"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": {"metadata": scan}}
        )

    folder = tmp_path / "eventlog_v2_app"
    folder.mkdir()
    names = (
        "events_1_app.zstd", "events_2_app.zstd", "events_2_app.zstd.compact", "events_3_app.zstd",
        "events_10_app.zstd", "events_10_app.zstd.compact", "events_11_app.zstd.inprogress",
    )  # fmt: skip
    for value, name in enumerate(names):
        (folder / name).write_bytes(zstandard.compress(start(value).encode()))
    other = tmp_path / "eventlog_v2_other"
    other.mkdir()
    (other / "events_1_other").write_text(start(99))
    # Not done: what it replaces is still there.
    (other / "events_1_other.compact.inprogress").write_text(start(98))
    (folder / "events_11_app.zstd.compact.inprogress").write_bytes(b"")

    def unpack(file):
        return io.BytesIO(zstandard.decompress(file.read_bytes()))

    assert event_log.read(tmp_path, "s3://b/t", unpack).predicates == {
        f"`x` = CAST('{value}' AS bigint)": 1 for value in (5, 6, 99)
    }


@pytest.mark.parametrize("folder", ["a#1", "a,b]", "x?y", "a b", "100%25", "ü", "a[1](2)", "a, b"])
def test_scans_of_a_folder_with_an_odd_name_are_found(tmp_path, folder):
    # DESCRIBE DETAIL and the log name it in the same way, without escaping.
    at = f"PreparedDeltaFileIndex(1 paths)[file:/data/{folder}]"
    logged(tmp_path, "[EqualTo(x,1)]", Location=at)
    for path in (f"/data/{folder}", f"file:/data/{folder}", f"file:///data/{folder}"):
        assert event_log.read(tmp_path / "log", path).scans == 1
    for other in ("a#2", "a", "x", "100%", "a%20b"):
        assert event_log.read(tmp_path / "log", f"file:/data/{other}").scans == 0


@pytest.mark.parametrize(
    ("logged_at", "location"),
    [
        ("s3://b/t", "s3a://b/t"),
        ("s3a://b/t", "s3n://b/t/"),
        ("s3n://b/t/", "s3://b/t"),
        ("wasb://c@a.blob.core.windows.net/t", "wasbs://c@a.blob.core.windows.net/t"),
        ("abfss://f@a.dfs.core.windows.net/t", "abfs://f@a.dfs.core.windows.net/t"),
    ],
)
def test_a_store_has_several_names(tmp_path, logged_at, location):
    at = f"PreparedDeltaFileIndex(1 paths)[{logged_at}]"
    logged(tmp_path, "[EqualTo(x,1)]", Location=at)
    assert event_log.read(tmp_path / "log", location).scans == 1
    for other in (f"{location}2", location.replace("://", "://a"), "gs://b/t", "abfs://b/t"):
        assert event_log.read(tmp_path / "log", other).scans == 0


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        ([], "it has no scans of a single folder."),
        (["/t/_delta_log"], "it has no scans of a single folder."),
        (["/b", "/a", "/a"], "it has scans at file:/a, file:/b."),
        (["/e", "/d", "/c", "/b"], "it has scans at file:/e, file:/d, file:/c and 1 other place."),
    ],
)
def test_a_log_without_the_table_is_not_blamed_on_filters(
    tmp_path, capsys, monkeypatch, folders, said
):
    metadata = [
        {"Location": f"PreparedDeltaFileIndex(1 paths)[file:{folder}]", "PushedFilters": "[]"}
        for folder in folders
    ]
    lines = [
        json.dumps({"Event": "SparkListenerSQLExecutionStart", "sparkPlanInfo": {"metadata": scan}})
        for scan in metadata
    ]
    log = tmp_path / "log"
    log.write_text("\n".join(lines), encoding="utf-8")
    table = TableAt("file:/data/events")
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(table))
    assert cli.main(["recommend", "/data/events", "--event-log", log.as_uri()]) == 1
    assert capsys.readouterr().err == f"zcube: No scan in {log} is at file:/data/events; {said}\n"


@pytest.mark.parametrize("folder", ["a b", "ü", "100%25", "a#1", "x?y"])
def test_a_compressed_event_log_may_be_in_a_folder_with_an_odd_name(spark, tmp_path, folder):
    file = tmp_path / folder / "app-1.zstd"
    file.parent.mkdir()
    file.write_bytes(zstandard.compress(b"one line\n"))
    with gateway.open_event_log(file) as stream:
        assert stream.read() == b"one line\n"
    with pytest.raises(ZCubeError, match=r"Opening .*nothing\.zstd failed in Spark: "):
        gateway.open_event_log(file.with_name("nothing.zstd"))


def test_a_compressed_event_log_is_fetched_in_few_calls():
    class Stream:
        calls = 0

        def readNBytes(self, size):  # noqa: N802
            self.calls += 1
            return content.read(size)

        def close(self):
            pass

    lines = b"".join(b"%d\n" % i for i in range(400_000))
    content, stream = io.BytesIO(lines), Stream()
    with io.TextIOWrapper(io.BufferedReader(gateway._JavaStream(stream))) as text:
        assert [int(line) for line in text] == list(range(400_000))
    # A megabyte each, and one for the end.
    assert stream.calls <= len(lines) // 2**20 + 3


def test_a_file_of_queries_may_begin_with_a_mark_of_its_encoding(tmp_path, capsys, monkeypatch):
    class Table:
        def recommend(self, queries):
            asked.extend(queries)
            raise ZCubeError("asked")

    asked = []
    monkeypatch.setattr(cli.recommend, "open_table", lambda options: nullcontext(Table()))
    queries = tmp_path / "queries.sql"
    queries.write_bytes(b"\xef\xbb\xbf-- weight: 2\r\nx = 1;\r\ny = 3;\r\n")
    assert cli.main(["recommend", "/x", "--queries", str(queries)]) == 1
    assert asked == [("x = 1", 2.0), "y = 3"]
    assert capsys.readouterr().err == "zcube: asked\n"


def test_cli_errors_are_one_line(tmp_path, capsys):
    for arguments in (
        ["recommend", "/x"],
        ["recommend", "/x", "--queries", "a", "--event-log", "b"],
    ):
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        assert stop.value.code == 2
    capsys.readouterr()
    empty = tmp_path / "empty.sql"
    empty.write_text("-- nothing\n;")
    packed = tmp_path / "app.zstd"
    packed.write_text("")
    for arguments, message in (
        (["--queries", str(tmp_path / "none.sql")], "can't be read"),
        (["--queries", str(empty)], "no query"),
        (["--event-log", str(tmp_path / "none")], "no local event log"),
        (["--event-log", "s3a://logs/app"], "at s3a://logs/app. Copy it here first."),
        (["--event-log", "file://host/app"], "at file://host/app. Copy it here first."),
    ):
        assert cli.main(["recommend", "/x", *arguments]) == 1
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
