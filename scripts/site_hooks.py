"""mkdocs hooks: add the site's pages that aren't in docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks/results"
# In the repository, a page links to the file itself; on the site, to the page made from it.
_RESULT = re.compile(r"\]\((?:\.\./)+benchmarks/results/([\w-]+\.md)\)")
# Examples have no page: the path, which is the link's text, tells where they are.
_EXAMPLE = re.compile(r"\[(`examples/[^\]]*`)\]\((?:\.\./)+examples/[^)]+\)")
_TOUR = re.compile(r"\[([^\]]+)\]\(tour\.ipynb\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the benchmarks' results."""
    for file in sorted(RESULTS.glob("*.md")):
        files.append(File.generated(config, f"results/{file.name}", abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to repository files into links to site pages."""
    up = "../" * page.file.src_uri.count("/")
    if page.file.src_uri == "python.md":
        # `make site` puts it there; mkdocs checks only Markdown links.
        markdown += '\n## Scala\n\n<a href="../scaladoc/index.html">Scaladoc of the jar.</a>\n'
    markdown = _RESULT.sub(rf"]({up}results/\1)", markdown)
    markdown = _EXAMPLE.sub(r"\1", markdown)
    return _TOUR.sub(r"\1 (`docs/tour.ipynb` in the repository)", markdown)
