"""docs/tour.ipynb, from its first cell to its last, in a separate kernel."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[2] / "docs" / "tour.ipynb"


@pytest.mark.slow
@pytest.mark.long
def test_the_tour_runs_and_shows_its_pictures(tmp_path, monkeypatch):
    # The notebook's folder and the kernel's settings must not be left behind.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")
    notebook = nbformat.read(TOUR, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells), "commit it without outputs"
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}})
    client.execute()
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    shown = [data for cell in cells for data in (output.get("data", {}) for output in cell.outputs)]
    assert sum("image/png" in data for data in shown) == 4
    # Quality, plan and two results show as tables.
    assert sum("<table>" in data.get("text/html", "") for data in shown) == 4
    text = "".join(output.get("text", "") for cell in cells for output in cell.outputs)
    assert "The query reads 12 files before, " in text
    assert "['day', 'customer']" in text
