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


def table_of(module):
    start = re.search(rf"^`{module}`, `", PAGE, re.MULTILINE).end()
    return PAGE[start:].split("\n\n")[1]


@pytest.mark.parametrize("module", MODULES)
def test_the_page_lists_every_package_of_a_module(module):
    listed = rows(table_of(module))
    named = {name for first, *_ in listed for name in re.findall(r"`([\w.]+)`", first)}
    assert named - ELSEWHERE == packages(module)
    for name in named & ELSEWHERE:
        assert (sources(module) / name.replace(".", "/")).is_dir()


def full_name(module, package):
    return package if package in ELSEWHERE else f"{MODULES[module]}.{package}".replace("/", ".")


def imports(module, package):
    """What the files of a package import, as text."""
    folder = sources(module) / full_name(module, package).replace(".", "/")
    texts = [file.read_text(encoding="utf-8") for file in folder.glob("*.scala")]
    return "\n".join(
        line for text in texts for line in text.splitlines() if line.startswith("import ")
    )


def imports_package(imported, module, package):
    return f"import {full_name(module, package)}." in imported


@pytest.mark.parametrize("module", MODULES)
def test_a_package_depends_only_on_packages_above_it_in_the_table(module):
    order = [
        name for first, *_ in rows(table_of(module)) for name in re.findall(r"`([\w.]+)`", first)
    ]
    for at, name in enumerate(order):
        imported = imports(module, name)
        later = order[at + 1 :]
        assert not [other for other in later if imports_package(imported, module, other)], name


def drawn():
    """For each line of the drawing, its cells: module and packages."""
    lines = PAGE.split("```")[1].splitlines()
    head = next(line for line in lines if "python/zcube" in line)
    starts = {module: head.index(f" {module}") + 1 for module in MODULES}
    for line in lines[lines.index(head) + 3 :]:
        cells = {}
        for module, start in starts.items():
            text = re.split(r" [─◀]|$", line[start:])[0]
            if line[start - 1 : start] == " " and re.match(r"[a-z]", text):
                cells[module] = [package.strip() for package in text.split(",")]
        if cells:
            yield cells


def test_arrows_of_the_drawing_are_dependencies():
    lines = list(drawn())
    assert len(lines) > 10
    for cells in lines:
        for module, named in cells.items():
            assert set(named) <= packages(module), cells
        # From left to right, whatever way the data goes.
        order = [module for module in reversed(MODULES) if module in cells]
        for left, right in zip(order, order[1:], strict=False):
            imported = "\n".join(imports(left, package) for package in cells[left])
            assert any(imports_package(imported, right, name) for name in cells[right]), cells


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


RECIPES = rows(CONTRIBUTING.split("## Recipes")[1])
COMMITS = {recipe: commits for recipe, *_, commits in RECIPES}


@pytest.mark.parametrize("row", RECIPES, ids=lambda row: row[0])
def test_the_files_of_a_change_are_there(row):
    assert "`" in row[1]
    assert not list(missing(row[1:2]))


def test_a_file_that_is_not_there_is_found_missing():
    cells = [
        "`clustering: plan/NoTask`, `plan/OptimizeTask`",
        "`NoClass.all`, `_log/none.py` · `make`",
    ]
    assert list(missing(cells)) == ["plan/NoTask", "NoClass.all", "_log/none.py"]


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
