"""What a benchmark's results say about where they were measured."""

from __future__ import annotations

import re
import subprocess

from benchmarks import machine


def test_results_name_commit_day_and_java():
    about = machine.machine()
    assert re.fullmatch(r"unknown|[0-9a-f]{7,}( with changes)?", about["commit"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", about["date"])
    assert re.match(r"unknown|\d+", about["java"])


def test_a_commit_with_changes_says_so_but_results_are_none(tmp_path, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-C", tmp_path, *arguments], check=True)

    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    program, results = tmp_path / "a.py", tmp_path / "benchmarks" / "results" / "a.md"
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "benchmarks" / "machine.py"))
    assert machine.commit() == "unknown"
    git("init", "--quiet")
    program.write_text("1")
    results.write_text("1")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "-m", "first")
    clean = machine.commit()
    assert re.fullmatch("[0-9a-f]{7,}", clean)
    results.write_text("2")
    assert machine.commit() == clean
    program.write_text("2")
    assert machine.commit() == f"{clean} with changes"
