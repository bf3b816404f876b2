"""docs/architecture.md and CONTRIBUTING.md name the packages and files that there are."""

import re
import subprocess
from pathlib import Path

import pytest
import zcube

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MODULES = {
    "core": "io/zcube",
    "spark": "io/zcube/sql",
    "clustering": "io/zcube/clustering",
    "delta": "org/apache/spark/sql/delta/zcube",
}
# Outside their module's own package.
ELSEWHERE = {"org.apache.spark.sql.zcube"}


def sources(module):
    return ROOT / f"jvm/{module}/src/main/scala"


def packages(module):
    """The packages with classes below the module's own, as the page names them."""
    own = sources(module) / MODULES[module]
    files = {file.parent for file in own.rglob("*.scala")} - {own}
    return {str(folder.relative_to(own)).replace("/", ".") for folder in files}


def rows(table):
    """The cells of each row of a Markdown table, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@pytest.mark.parametrize("module", MODULES)
def test_the_page_lists_every_package_of_a_module(module):
    start = re.search(rf"^`{module}`, `", PAGE, re.MULTILINE).end()
    table = PAGE[start:].split("\n\n")[1]
    named = {name for first, *_ in rows(table) for name in re.findall(r"`([\w.]+)`", first)}
    assert named - ELSEWHERE == packages(module)
    for name in named & ELSEWHERE:
        assert (sources(module) / name.replace(".", "/")).is_dir()


def missing(cells):
    """The classes and paths in a row's cells that aren't there: `plan/OptimizeTask`, `_log/schema.py`."""
    roots = [ROOT, ROOT / "python/zcube", ROOT / "tests"]
    roots += [sources(module) / package for module, package in MODULES.items()]
    named = [text.rpartition(": ")[2] for cell in cells for text in re.findall(r"`([^`]+)`", cell)]
    for name in named:
        path = name.partition(" ")[0]
        if re.fullmatch(r"[A-Z]\w*[a-z]\w*(\.\w+)?", path):
            scala = (ROOT / "jvm").glob(f"*/src/*/**/{path.partition('.')[0]}.scala")
            if not any(scala) and not hasattr(zcube, path.partition(".")[0]):
                yield name
        elif "/" in path and not any(
            (root / path).exists() or (root / f"{path}.scala").exists() for root in roots
        ):
            yield name


CHANGES = rows(PAGE.split("typical changes")[1])
RECIPES = rows(CONTRIBUTING.split("## Recipes")[1])
COMMITS = {recipe: commits for recipe, *_, commits in RECIPES}


@pytest.mark.parametrize("row", [*CHANGES, *RECIPES], ids=lambda row: row[0])
def test_the_files_of_a_change_are_there(row):
    assert "`" in row[1]
    assert not list(missing(row[1:2]))


def test_a_file_that_is_not_there_is_found_missing():
    cells = [
        "`clustering: plan/NoTask`, `plan/OptimizeTask`",
        "`NoClass.all`, `_log/none.py` · `make`",
    ]
    assert list(missing(cells)) == ["plan/NoTask", "NoClass.all", "_log/none.py"]


def test_there_are_ten_typical_changes_or_more():
    assert len(CHANGES) >= 10


@pytest.mark.parametrize("recipe", COMMITS)
def test_a_recipe_names_commits_of_the_history(recipe):
    commits = re.findall(r"\b[0-9a-f]{7,40}\b", COMMITS[recipe])
    assert commits or COMMITS[recipe].startswith("none yet")
    shallow = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    if shallow != "false":
        pytest.skip("the history isn't here")
    for commit in commits:
        found = subprocess.run(["git", "cat-file", "-e", f"{commit}^{{commit}}"], cwd=ROOT)
        assert found.returncode == 0, commit
