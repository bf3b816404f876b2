"""Every example of the site's first page and of the questions, run one after the other as a reader would."""

import builtins
import re
from pathlib import Path

import pytest
import zcube

from tests.support.log_replay import live_files

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [
    "index.md",
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
            # The tests' session is made in the same way.
            exec(compile(SESSION.sub("", text), page, "exec"), names)
        else:
            for statement in re.sub(r"\s+--.*$", "", text, flags=re.MULTILINE).split(";"):
                if statement.strip():
                    spark.sql(statement).collect()
    return "\n".join(printed)


@pytest.fixture(scope="module")
def started(spark):
    """The table of the first page, and what that page printed."""
    spark.sql("DROP TABLE IF EXISTS events")
    yield run(spark, "index.md")
    spark.sql("DROP TABLE IF EXISTS events")


def test_the_first_page_shows_what_it_says(spark, started):
    reads = dict(re.findall(r"^(.*) reads (\d+) of", started, re.MULTILINE))
    assert reads == {
        "day = '2026-03-01'": "8",
        "user = 17": "7",
        "day = '2026-03-01' AND user = 17": "1",
    }
    assert zcube.ClusteredTable.for_name(spark, "events").clustering_columns == ["day", "user"]


@pytest.mark.parametrize("page", PAGES[1:])
def test_examples_of_the_questions_run(spark, started, page):
    if page == "questions/date.md":
        # ZORDER BY is for tables that have no clustering columns.
        spark.sql("ALTER TABLE events CLUSTER BY NONE")
    if page == "questions/small-table.md":
        spark.sql("ALTER TABLE events CLUSTER BY NONE")
    if page in ("questions/file-sizes.md", "questions/slow-optimize.md"):
        spark.sql("ALTER TABLE events CLUSTER BY (day, user)")
    assert not blocks(page) or run(spark, page) is not None
    assert spark.table("events").count() == 240_000


def test_what_the_pages_say_of_depth_and_columns_is_measured(spark, path):
    """The tables of `depth.md`, `date.md` and `how-many-columns.md`."""
    select = re.search(r"USING delta AS\n(.*?)\n\"\"\"", blocks("index.md")[1][1], re.DOTALL)[1]
    spark.sql(f"CREATE TABLE delta.`{path}` USING delta AS {select}")
    table = zcube.ClusteredTable.for_path(spark, path)
    queries = ["day = '2026-03-01'", "user = 17"]

    def shape(columns):
        quality = table.quality(columns=columns)
        rows = {c: (quality[c].files, round(quality[c].average_depth, 1)) for c in columns}
        everything = (quality.all.files, round(quality.all.average_depth, 1))
        return rows | {"*": everything}, [len(quality.files_read(q)) for q in queries]

    assert shape(["day", "user"])[0] == {"day": (60, 2.0), "user": (60, 60.0), "*": (60, 1.5)}
    found = {}
    for columns in (["day"], ["day", "user"], ["day", "user", "amount"]):
        table.optimize(zorder_by=columns, max_file_size="48k")
        found[", ".join(columns)] = shape(["day", "user"])[1]
        if columns == ["day", "user"]:
            assert shape(columns)[0] == {"day": (51, 7.9), "user": (51, 7.7), "*": (51, 1.0)}
    text = (DOCS / "questions/how-many-columns.md").read_text(encoding="utf-8")
    said = re.findall(r"^\| `(.+?)` \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert {row[0]: [int(row[2]), int(row[3])] for row in said} == found
    assert int(said[-1][1]) == len(live_files(path))
