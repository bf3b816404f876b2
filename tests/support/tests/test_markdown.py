from pathlib import Path

from benchmarks import markdown

RESULTS = Path(__file__).parents[3] / "benchmarks/results"


def test_prose_is_wrapped_and_a_table_is_not(tmp_path):
    page = tmp_path / "page.md"
    row, item = f"| {'x ' * 90}|", f"- {'word ' * 30}"
    markdown.write(page, f"# {'Title ' * 30}\n\n{'word ' * 30}\n\n{row}\n\n{item}")
    title, _, first, rest, _, same, _, dash, below = page.read_text().splitlines()
    assert (len(title) > markdown.WIDTH, same) == (True, row)
    assert f"{first} {rest}".split() == ["word"] * 30
    assert (dash[:2], below[:6]) == ("- ", "  word")
    assert max(map(len, (first, rest, dash, below))) <= markdown.WIDTH


def test_pages_of_results_are_as_the_benchmarks_write_them(tmp_path):
    pages = list(RESULTS.glob("*.md"))
    assert pages
    for page in pages:
        markdown.write(tmp_path / page.name, page.read_text())
        assert (tmp_path / page.name).read_text() == page.read_text(), page.name
