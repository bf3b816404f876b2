"""zcube.report and the commands zcube plot and zcube report."""

import base64
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pyarrow
import pytest
from deltalake import write_deltalake
from zcube import ClusteredTable, ZCubeError, plots, report
from zcube._log.deltalake import DeltaLakeLog
from zcube._log.protocol import log_of

from tests.support import written_log
from tests.support.log_replay import actions, live_files
from tests.support.processes import run_here

SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [{"name": "x", "type": "integer", "nullable": True, "metadata": {}}],
    }
)

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

# Elements without end tags, and all others that the page may contain.
VOID = {"meta", "img"}
KNOWN = {
    "html", "head", "title", "style", "body", "h1", "h2", "p", "section",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


class Page(HTMLParser):
    """Parses a page, and fails if it isn't well-formed or loads anything external."""

    def __init__(self, text):
        super().__init__()
        self.open, self.images, self.sections, self.text = [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN | VOID, tag
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names)
        assert not {"href", "srcset", "onload", "id"} & set(names)
        values = dict(attributes)
        if "src" in values:
            assert tag == "img"
            kind, data = values["src"].split(",", 1)
            assert kind == "data:image/png;base64"
            self.images.append(base64.b64decode(data, validate=True))
            assert values["alt"]
        if tag not in VOID:
            if tag in ("tr", "thead", "tbody"):
                assert self.open[-1] in ("table", "thead", "tbody")
            if tag in ("p", "table", "section"):
                assert "p" not in self.open
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else None
        if inside == "style":
            assert "url(" not in data
            assert "@import" not in data
        elif inside == "h2":
            self.sections[data] = []
        elif self.sections:
            list(self.sections.values())[-1].append(data)
        else:
            self.text.append(data)


def messy_table(spark, path):
    """Two cubes, fresh files, files without statistics, and names that would break a page."""
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(8 << 10))

    def rows(start, count):
        return spark.range(start, start + count, 1, 2).selectExpr(
            "hash(id) x", 'hash(id, 1) `<b>&"y`', "string(id) s"
        )

    rows(0, 4000).write.format("delta").save(path)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", '<b>&"y'])
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    rows(9000, 100).write.format("delta").mode("append").save(path)
    spark.conf.set("spark.databricks.delta.stats.collect", "true")
    return table


def test_the_page_has_its_sections_pictures_and_no_link(spark, tmp_path):
    path = str(tmp_path / "<i>'table'")
    table = messy_table(spark, path)
    text = report.page(table, predicate="x < 0")
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    page = Page(text)
    assert list(page.sections) == [
        "Quality", "Files", "Depth", "Versions", "ZCubes", "Files without statistics", "OPTIMIZE",
    ]  # fmt: skip
    assert all(image.startswith(b"\x89PNG") for image in page.images)
    assert len(page.images) == 3
    assert any("<i>'table'" in text for text in page.text)
    assert not re.search(r"https?:|//", re.sub(r'src="[^"]*"', "", text))
    files = live_files(path)
    bare = [file for file in files if "x" not in file.minimum]
    cube = [file for file in files if file.tags]
    assert len(bare) == 2
    shown = page.sections["Files without statistics"]
    assert {file.path for file in bare} <= set(shown)
    assert not {file.path for file in cube} & set(shown)
    assert 'x, `<b>&"y`' in shown
    cubes = page.sections["ZCubes"]
    assert {file.tags["ZCUBE_ID"] for file in cube} <= set(cubes)
    share = sum(file.size for file in cube) / sum(file.size for file in files)
    assert {str(len(cube)), f"{100 * share:.1f} %"} <= set(cubes)
    assert any("2 of" in text and "have no minimum" in text for text in page.sections["Quality"])
    runs = page.sections["OPTIMIZE"]
    changed = [a for a in actions(path, 1) if "add" in a or "remove" in a]
    removed, added = ([a for a in changed if kind in a] for kind in ("remove", "add"))
    at = next(i for i, cell in enumerate(runs) if cell == "1" and re.match(r"\d{4}-", runs[i + 1]))
    assert [runs[at + 2], runs[at + 4]] == [str(len(removed)), str(len(added))]


@pytest.mark.skipif(BROWSER is None, reason="neither chromium nor google-chrome is on PATH")
def test_the_page_shows_without_errors_in_a_browser(spark, path, tmp_path):
    text = report.page(messy_table(spark, path), predicate="x < 0")
    page, shot = tmp_path / "page.html", tmp_path / "page.png"
    # A script injected by the test, for which the policy is removed, reports what the browser sees.
    check = """<script>window.onload = () => document.title = JSON.stringify([
        [...document.images].map(i => i.naturalWidth), document.querySelectorAll('tr').length])
        </script></body>"""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    page.write_text(free.replace("</body>", check), encoding="utf-8")
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/b",
         f"--screenshot={shot}", "--window-size=1100,2400", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    seen = re.search(r"<title>(\[.*?\])</title>", done.stdout)
    assert seen, done.stderr[-2000:]
    widths, rows = json.loads(seen[1])
    assert len(widths) == 3
    assert all(width > 400 for width in widths)
    assert rows == text.count("<tr>")


def test_a_table_of_one_column_and_one_version_has_a_page(spark, path):
    spark.range(0, 30, 1, 3).selectExpr("id", "id > 5 b").write.format("delta").save(path)
    page = Page(report.page(ClusteredTable.for_path(spark, path), ["b"]))
    assert "Versions" not in page.sections
    assert len(page.images) == 1
    assert "Boxes need two columns; this report is by one." in page.sections["Files"]
    assert page.sections["Files without statistics"].count("b") == 3
    assert any("There is none" in text for text in page.sections["OPTIMIZE"])
    both = Page(report.page(ClusteredTable.for_path(spark, path), ["id", "b"]))
    assert any("b is boolean" in text for text in both.sections["Files"])


def test_a_column_without_minimum_is_left_out_of_the_pictures_and_named(path):
    rows = {name: [True, False] if "b" in name else [1, 2] for name in ("x", "a<b>", "y", "z")}
    write_deltalake(path, pyarrow.table(rows))
    log = DeltaLakeLog.open(path)

    def files(*columns):
        text = report.page(log, columns)
        return re.findall(r'alt="The files over (\w) and (\w)"', text), Page(text).sections["Files"]

    drawn, said = files("x", "`a<b>`", "y")
    note = "`a<b>` is boolean. Delta keeps no minimum and maximum of such columns."
    assert drawn == [("x", "y")]
    assert f"Not drawn: {note}" in said
    # Each pair that has minima is drawn, though there are six in all.
    assert files("`a<b>`", "x", "y", "z")[0] == [("x", "y"), ("x", "z"), ("y", "z")]
    drawn, said = files("x", "`a<b>`")
    assert drawn == []
    assert {"Boxes need two columns with a minimum and a maximum.", f"Not drawn: {note}"} <= {*said}
    assert "Not drawn" not in str(files("x", "y"))


@pytest.mark.parametrize("columns", [["x"], ["x", "ab"]])
def test_a_predicate_that_can_not_be_shown_is_refused(path, columns):
    write_deltalake(path, pyarrow.table({"x": [1, 2], "ab": [True, False]}))
    log = DeltaLakeLog.open(path)
    with pytest.raises(ZCubeError, match="boxes, which need two columns"):
        report.page(log, columns, predicate="garbage(((")
    with pytest.raises(ZCubeError, match="The predicate is empty"):
        report.page(log, columns, predicate="")


def test_a_picture_that_fails_is_an_error_and_no_text_of_the_page(path, monkeypatch):
    write_deltalake(path, pyarrow.table({"x": [1, 2], "y": [1, 2]}))

    def failing(*_, **__):
        raise ZCubeError("the log is damaged")

    monkeypatch.setattr(plots, "boxes", failing)
    with pytest.raises(ZCubeError, match="the log is damaged"):
        report.page(DeltaLakeLog.open(path), ["x", "y"])


def test_a_tag_that_names_no_columns_is_shown_as_none(path):
    for tag in ("null", "5", '"xy"', '["x"]'):
        folder = f"{path}-{tag}"
        tags = {"ZCUBE_ID": "a", "ZCUBE_ZORDER_BY": tag}
        stats = {"numRecords": 1, "minValues": {"x": 1}, "maxValues": {"x": 1}}
        written_log.write(folder, SCHEMA, [{"tags": tags, "stats": stats}])
        log = DeltaLakeLog.open(folder)
        columns = ["x"] if tag == '["x"]' else []
        assert [cube.columns for cube in log.cubes()] == [columns]
        assert "<td>a</td>" in report.page(log, ["x"])


def test_both_engines_list_cubes_with_a_damaged_tag_without_columns(spark, path):
    for tag in ('["x"', "[1, 2]", '["x", null]', '"xy"', "[" * 100_000):
        folder = f"{path}-{tag[:9]}"
        written_log.write(folder, SCHEMA, [{"tags": {"ZCUBE_ID": "a", "ZCUBE_ZORDER_BY": tag}}])
        for log in (DeltaLakeLog.open(folder), log_of(ClusteredTable.for_path(spark, folder))):
            (cube,) = log.cubes()
            assert (cube.id, cube.columns) == ("a", [])


def test_plot_and_report_write_files_or_say_why_not(spark, in_this_session, path, tmp_path, capsys):
    spark.range(0, 3000, 1, 3).selectExpr("id % 1000 x", "id y").write.format("delta").save(path)
    png, svg, pdf = (tmp_path / f"out.{end}" for end in ("png", "svg", "pdf"))
    run = ["plot", path, "--by", "x,y"]
    code, out, err = run_here(capsys, *run, "-o", str(png), "--predicate", "y < 7")
    assert (code, out) == (0, f"written: {png}\n")
    assert err == "zcube: Spark reads the log: a predicate needs Spark's data skipping\n"
    assert png.read_bytes().startswith(b"\x89PNG")
    code, out, _ = run_here(capsys, *run, "-o", str(svg), "--kind", "depth", "--json")
    assert (code, json.loads(out)) == (0, {"output": str(svg)})
    assert "<svg" in svg.read_text(encoding="utf-8")
    assert run_here(capsys, *run, "-o", str(pdf), "--kind", "history")[0] == 0
    assert pdf.read_bytes().startswith(b"%PDF")
    page = tmp_path / "r.html"
    assert run_here(capsys, "report", path, "--by", "x,y", "-o", str(page))[0] == 0
    assert "Depth" in Page(page.read_text(encoding="utf-8")).sections
    assert run_here(capsys, "report", path, "-o", str(pdf)) == (
        1,
        "",
        f"zcube: A report is a page, not a picture: {pdf} must end with .html.\n",
    )
    ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"])
    for arguments, error in [
        ([path, "-o", str(png)], "clustered by one column. Name two: --by x,y."),
        ([path, "--by", "x,y,x", "-o", str(png)], "two columns"),
        ([path, "--by", "x,y", "-o", str(tmp_path / "a.gif")], "must end with .png, .svg, .pdf."),
        ([path, "--by", "x,y", "-o", str(tmp_path / "no" / "a.png")], "There is no folder"),
        ([path, "--by", "x,z", "-o", str(png)], "There is no column z"),
        (
            [path, "--by", "x", "--kind", "depth", "--predicate", "x", "-o", str(png)],
            "--kind boxes",
        ),
    ]:
        code, out, err = run_here(capsys, "plot", *arguments)
        assert (code, out) == (1, ""), arguments
        assert error in err
        assert len(err.splitlines()) == 1
    for arguments in (["plot", path], ["report"], ["plot", path, "-o", "x.png", "--kind", "pie"]):
        with pytest.raises(SystemExit) as stop:
            run_here(capsys, *arguments)
        assert stop.value.code == 2


@pytest.mark.parametrize("kind", ["boxes", "curve"])
def test_of_three_clustering_columns_plot_says_which_two_it_draws(path, tmp_path, capsys, kind):
    fields = [{"name": n, "type": "integer", "nullable": True, "metadata": {}} for n in "xyz"]
    ends = dict.fromkeys("xyz", 1)
    tags = {"ZCUBE_ID": "a", "ZCUBE_ZORDER_BY": '["x","y","z"]', "ZCUBE_ZORDER_CURVE": "hilbert"}
    stats = {"numRecords": 1, "minValues": ends, "maxValues": ends}
    file = {"path": "part-00000-a.c000.snappy.parquet", "tags": tags, "stats": stats}
    written_log.write(path, json.dumps({"type": "struct", "fields": fields}), [file])
    run = ["plot", path, "--engine", "log", "--kind", kind, "-o", str(tmp_path / "a.png")]
    code, _, err = run_here(capsys, *run)
    assert (code, err) == (
        0,
        "zcube: drawn over x and y, the first of the table's columns x, y, z; --by chooses "
        "others\n",
    )
    code, _, err = run_here(capsys, *run, "--by", "z,x")
    assert (code, err) == (0, "")
