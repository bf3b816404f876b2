"""The site is built strictly: what is dead or unknown fails."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The arguments as `make lint` gives them; with --quiet, mkdocs takes no notice of warnings.
COMMAND = re.search(
    r"^\t\$\(MKDOCS\) (build .*?)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
)[1]
pytestmark = pytest.mark.slow


def build(site):
    command = [sys.executable, "-m", "mkdocs", *COMMAND.split()]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr


@pytest.fixture
def site(tmp_path):
    """A copy of everything that the site is made from."""
    for name in ("docs", "python", "scripts", "benchmarks/results"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("jars"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def test_a_sound_site_is_built(site):
    code, said = build(site)
    assert code == 0, said
    assert (site / ".build/site/index.html").is_file()


# What is added to a page, and what mkdocs says of it. Each is a warning, any of which fails a strict
# build, so one build tells of all of them.
DEAD = [
    ("index.md", "[more](nowhere.md)", "'nowhere.md'"),
    ("index.md", "[more](sql.md#nowhere)", "'#nowhere'"),
    ("index.md", "![a picture](pictures/nowhere.png)", "'pictures/nowhere.png'"),
    ("unlisted.md", "# A page that no menu has", "unlisted.md"),
]


def add(site, page, addition):
    with (site / "docs" / page).open("a", encoding="utf-8") as file:
        file.write(f"\n{addition}\n")


def test_a_page_with_a_dead_link_fails_the_build(site):
    for page, addition, _ in DEAD:
        add(site, page, addition)
    code, said = build(site)
    assert code != 0
    # A warning goes on in indented lines.
    warnings = re.findall(r"^WARNING.*(?:\n +.*)*", said, re.MULTILINE)
    assert len(warnings) == len(DEAD), said
    for _, addition, complaint in DEAD:
        assert any(complaint in warning for warning in warnings), (addition, said)


def test_a_reference_to_nothing_fails(site):
    add(site, "python.md", "::: zcube.nothing_of_that_name")
    code, said = build(site)
    assert code != 0
    assert "nothing_of_that_name" in said


def test_each_picture_has_an_alternative_text_of_its_own():
    pages = [
        *(ROOT / "docs").glob("**/*.md"),
        *ROOT.glob("*.md"),
        *(ROOT / "benchmarks").glob("**/*.md"),
    ]
    texts = {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for alternative, picture in re.findall(r"!\[(.*?)\]\((.*?)\)", text):
            texts.setdefault(Path(picture).name, set()).add(alternative)
        for tag in re.findall(r"<img\b[^>]*>", text):
            assert re.search(r'\balt="[^"]', tag), (page.name, tag)
    assert texts.keys() == {picture.name for picture in (ROOT / "docs/pictures").iterdir()}
    # A picture on two pages has one text, which is a sentence and that of no other picture.
    assert len(set().union(*texts.values())) == len(texts)
    for picture, alternatives in texts.items():
        assert len(alternatives) == 1, (picture, alternatives)
        (alternative,) = alternatives
        assert len(alternative.split()) >= 5, picture
        assert Path(picture).stem not in alternative
