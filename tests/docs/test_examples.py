"""Every example of the site's first page, and then those of other pages on the tables made there."""

import builtins
import re
from pathlib import Path

import pytest
import zcube

from tests.support.log_replay import live_files

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    "index.md",
    "operating.md",
    *sorted(f"questions/{page.name}" for page in (DOCS / "questions").glob("*.md")),
]
BLOCK = re.compile(r"^```(python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^spark = zcube\.configure.*\n", re.MULTILINE)


def blocks(page):
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def run(spark, page):
    """Run a page's blocks in one namespace; return what they printed."""
    printed = []

    def show(*values):
        printed.append(" ".join(map(str, values)))
        builtins.print(*values)

    names = {"spark": spark, "zcube": zcube, "print": show}
    for language, text in blocks(page):
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


def test_the_first_page_shows_what_it_says(spark, started):
    # Parquet's sizes differ a little by version, and with them the number of files.
    reads = re.findall(r" reads (\d+) of", started)
    assert [int(files) for files in reads] == pytest.approx([8, 7, 1], abs=1)
    again = zcube.ClusteredTable.for_name(spark, "events").optimize(
        zorder_by=["day", "user"], max_file_size="48k"
    )
    assert again.files_removed == 0
    assert zcube.ClusteredTable.for_name(spark, "clicks").clustering_columns == ["day", "user"]


@pytest.mark.parametrize("page", [page for page in PAGES if page != "index.md" and blocks(page)])
def test_examples_run_on_the_tables_of_the_first_page(spark, started, page):
    run(spark, page)
    assert spark.table("events").count() == spark.table("clicks").count() == 240_000


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
        return {one.column: [one.files, one.average_depth] for one in found}

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
