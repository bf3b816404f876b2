"""Every example of the README and the site.

Some pages use the tables that the first page makes; the others get tables of their own.
"""

import builtins
import re
from pathlib import Path

import pytest
import zcube

from tests.support.log_replay import live_files
from tests.support.matrix import cases

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    "index.md",
    "operating.md",
    *sorted(f"questions/{page.name}" for page in (DOCS / "questions").glob("*.md")),
]
BLOCK = re.compile(r"^```(python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^spark = zcube\.configure.*\n", re.MULTILINE)

ROWS = """
    SELECT id, pmod(hash(id), 100) AS user, pmod(hash(id, 1), 20) AS tenant,
           date_add(DATE'2026-10-01', CAST(id DIV 100 AS INT)) AS day,
           date_add(DATE'1994-01-01', pmod(hash(id, 2), 300)) AS l_shipdate,
           pmod(hash(id, 3), 1000) AS l_partkey, IF(id % 2 = 0, 'eu', 'us') AS region,
           IF(id % 9 = 0, NULL, 'done') AS status, string(id % 7) AS page,
           timestamp_seconds(1790812800 + id * 864) AS ts
    FROM range({}, {}, 1, 16)
"""
# The statements before a page's examples, and the number of rows in each table after them.
OWN_TABLES = {
    "../README.md": (
        {
            "delta.`{folder}/events`": "",
            "events": "PARTITIONED BY (region)",
        },
        {"delta.`{folder}/events`": 4000, "events": 4000, "clicks": 4000},
    ),
    "zorder.md": (
        {"t": "", "clustered_table": "CLUSTER BY (l_shipdate, l_partkey)", "events": ""},
        {"t": 4000, "clustered_table": 4000, "events": 4000},
    ),
    "columns.md": ({"events": ""}, {"events": 4000}),
    "quality.md": ({"events": "CLUSTER BY (l_shipdate, l_partkey)"}, {"events": 4000}),
    "merge.md": ({"events": ""}, {"events": 5000}),
    "clustering.md": (
        {"events": "CLUSTER BY (day, user)", "clicks": "CLUSTER BY (day, user)"},
        {"events": 4000, "clicks": 4000},
    ),
    "migrating.md": (
        {"events": "", "visits": "PARTITIONED BY (region)"},
        {"events": 4000, "events2": 4000, "visits": 4000, "visits2": 4000},
    ),
    "streams.md": ({"updates": "", "events": ""}, {"arrivals": 4000}),
}


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def run(spark, page, folder="/data", **more):
    """Run a page's blocks in one namespace; return what they printed.

    Tables in ``/data`` are in ``folder`` instead, and ``more`` are names that the page doesn't define.
    """
    printed = []

    def show(*values):
        printed.append(" ".join(map(str, values)))
        builtins.print(*values)

    names = {"spark": spark, "zcube": zcube, "print": show, **more}
    for language, text in blocks(page):
        text = text.replace("/data/", f"{folder}/")
        if language == "python":
            # The tests' session is created in the same way.
            exec(compile(SESSION.sub("", text), page, "exec"), names)
        else:
            for statement in re.sub(r"\s+--.*$", "", text, flags=re.MULTILINE).split(";"):
                if statement.strip():
                    spark.sql(statement).collect()
    return "\n".join(printed)


@pytest.fixture(scope="module")
def started(spark):
    """The tables of the first page, and what that page printed."""

    def clear():
        for table in ("events", "clicks"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")

    clear()
    yield run(spark, "index.md")
    clear()


@pytest.mark.long
def test_the_first_page_shows_what_it_says(spark, started):
    # Parquet's sizes differ a little by version, and with them the number of files.
    reads = re.findall(r" reads (\d+) of", started)
    assert [int(files) for files in reads] == pytest.approx([8, 7, 1], abs=1)
    again = zcube.ClusteredTable.for_name(spark, "events").optimize(
        zorder_by=["day", "user"], max_file_size="48k"
    )
    assert again.files_removed == 0
    assert zcube.ClusteredTable.for_name(spark, "clicks").clustering_columns == ["day", "user"]


@pytest.mark.parametrize(
    "page",
    cases([page for page in PAGES if page != "index.md" and blocks(page)], set()),
)
def test_examples_run_on_the_tables_of_the_first_page(spark, started, page):
    run(spark, page)
    assert spark.table("events").count() == spark.table("clicks").count() == 240_000


@pytest.fixture
def own_schema(spark):
    spark.sql("CREATE SCHEMA examples")
    try:
        spark.sql("USE examples")
        yield
    finally:
        spark.sql("USE default")
        spark.sql("DROP SCHEMA examples CASCADE")


@pytest.mark.parametrize("page", cases(OWN_TABLES, {"../README.md"}))
def test_examples_run_on_tables_of_their_own(spark, own_schema, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Small enough that these tables have many files, and are worth clustering.
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(8 << 10))
    tables, rows = OWN_TABLES[page]
    for table, layout in tables.items():
        name = table.format(folder=tmp_path)
        spark.sql(f"CREATE TABLE {name} USING delta {layout} AS {ROWS.format(0, 4000)}")
    if "updates" not in tables:
        spark.sql(f"CREATE TABLE updates USING delta AS {ROWS.format(3000, 5000)}")
    points = spark.range(1000).selectExpr(
        "id % 30 AS x", "id % 7 AS y", "int(id) AS a", "int(id % 5) AS b"
    )
    if "t" not in tables:
        points.write.format("delta").saveAsTable("t")
    run(
        spark,
        page,
        folder=tmp_path,
        table=zcube.ClusteredTable.for_name(spark, "events"),
        source=spark.readStream.table("updates").select("id", "day", "user"),
        df=points,
        Path=Path,
    )
    for table, number in rows.items():
        found = spark.table(table.format(folder=tmp_path)).select("id").collect()
        assert {row.id for row in found} == set(range(number)), table
        assert len(found) == number, table


def test_every_page_with_examples_is_run():
    pages = [
        page for page in DOCS.glob("**/*.md") if BLOCK.search(page.read_text(encoding="utf-8"))
    ]
    run_here = {*PAGES, *OWN_TABLES}
    assert {str(page.relative_to(DOCS)) for page in pages} <= run_here
    for page in (ROOT / "python/README.md", *(ROOT / "examples").glob("**/README.md")):
        assert not BLOCK.search(page.read_text(encoding="utf-8")), page


@pytest.mark.long
def test_what_the_pages_say_of_depth_and_columns_is_measured(spark, path):
    """The tables of `depth.md` and `how-many-columns.md`; Parquet's sizes differ a little by version."""
    select = re.search(r"USING delta AS\n(.*?)\n\s*\"\"\"", blocks("index.md")[1][1], re.DOTALL)[1]
    create = f"CREATE OR REPLACE TABLE delta.`{path}` USING delta AS {select}"
    spark.sql(create)
    table = zcube.ClusteredTable.for_path(spark, path)
    queries = ["day = '2026-03-01'", "user = 17"]

    def depths():
        quality = table.quality(columns=["day", "user"])
        found = [*quality.columns, quality.all]
        return {column.column: [column.files, column.average_depth] for column in found}

    said = [
        {name: [int(files), float(depth)] for name, files, depth in rows}
        for rows in (
            re.findall(r"^\| \\?(day|user|\*) \| (\d+) \| ([\d.]+) \|", part, re.MULTILINE)
            for part in (DOCS / "questions/depth.md").read_text(encoding="utf-8").split("After ")
        )
        if rows
    ]
    near = {name: pytest.approx(figures, abs=0.05) for name, figures in said[0].items()}
    assert depths() == near

    text = (DOCS / "questions/how-many-columns.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(.+?)` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(lines) == 3
    for columns, *figures in lines:
        spark.sql(create)
        table.optimize(zorder_by=columns.split(", "), max_file_size="48k")
        quality = table.quality(columns=["day", "user"])
        read = [len(quality.files_read(query)) for query in queries]
        assert [len(live_files(path)), *read] == pytest.approx([*map(int, figures)], abs=2), columns
        if columns == "day, user":
            near = {name: pytest.approx(figures, abs=1.5) for name, figures in said[1].items()}
            assert depths() == near

    spark.sql(create)
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (day, user) OPTIONS ('maxFileSize' = '48k')")
    spark.sql(
        f"INSERT INTO delta.`{path}` SELECT id + 1000000, "
        "date_add(DATE'2026-01-01', CAST(pmod(hash(id, 9), 200) AS INT)), "
        "CAST(pmod(hash(id), 5000) AS INT), 1.0 FROM range(0, 12000, 1, 5)"
    )
    assert depths()["*"] == pytest.approx(said[2]["*"], abs=2)
    assert depths()["*"][1] > 4


def test_a_day_of_a_timestamp_skips_what_its_range_skips(spark, path):
    """As `date.md` says; a function that Spark can't undo skips nothing, as `troubleshooting.md` does."""
    spark.sql(
        f"CREATE TABLE delta.`{path}` USING delta AS SELECT timestamp_seconds(1767225600 + id * 60) "
        "AS ts, string(timestamp_seconds(1767225600 + id * 60)) AS name FROM range(0, 40000, 1, 10)"
    )
    quality = zcube.ClusteredTable.for_path(spark, path).quality(columns=["ts"])
    spread = quality.files_read("ts >= '2026-01-03' AND ts < '2026-01-04'")
    assert len(spread) == 2
    assert quality.files_read("date(ts) = '2026-01-03'") == spread
    assert len(quality.files_read("lower(name) = '2026-01-03 00:00:00'")) == 10
    assert len(quality.files_read("name = '2026-01-03 00:00:00'")) == 1


@pytest.mark.long
def test_only_zorder_by_rewrites_what_delta_laid_out(spark, path, delta_only):
    """As `migrating.md` says: ZORDER BY rewrites once, and cubes of a clustered table stay."""
    rows = "SELECT id, hash(id) AS x, hash(id, 1) AS y FROM range(0, 4000, 1, 8)"

    def optimize(folder, clause=""):
        metrics = spark.sql(f"OPTIMIZE delta.`{folder}` {clause}").first().metrics
        return metrics.numFilesRemoved

    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(16 << 10))
    spark.sql(f"CREATE TABLE delta.`{path}` USING delta AS {rows}")
    clustered = f"{path}-clustered"
    spark.sql(f"CREATE TABLE delta.`{clustered}` USING delta CLUSTER BY (x, y) AS {rows}")
    with delta_only():
        optimize(path, "ZORDER BY (x, y)")
        optimize(clustered)
    files = len(live_files(path))
    assert files > 1
    assert optimize(path, "ZORDER BY (x, y)") == files
    assert optimize(path, "ZORDER BY (x, y)") == 0

    before = {file.path for file in live_files(clustered)}
    assert len(before) > 1
    assert optimize(clustered) == 0
    spark.sql(f"INSERT INTO delta.`{clustered}` {rows}")
    assert optimize(clustered) > 0
    assert before <= {file.path for file in live_files(clustered)}
