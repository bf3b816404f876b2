"""zcube demo on little data: every step, and the truth of what it shows."""

import re
import subprocess
import sys
from datetime import date

import pytest
from zcube.demo import event_log
from zcube.demo.file_boxes import overlaps
from zcube.demo.queries import Box, example_queries, read_by

from tests.support.log_replay import live_files


@pytest.mark.slow
@pytest.mark.long
def test_the_demo_shows_what_another_session_reads(spark, tmp_path, capsys):
    folder = tmp_path / "out"
    command = [sys.executable, "-m", "zcube", "demo", "--scale", "0.01", "--output", folder]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=400)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert (folder / "file-boxes.png").read_bytes().startswith(b"\x89PNG")

    # The same rows three times.
    rows = re.findall(r"(before|ZCube|Delta)\s+([\d,]+) rows\s+(-?\d+)", done.stdout)
    assert [name for name, *_ in rows] == ["before", "ZCube", "Delta"]
    assert len({tuple(values) for _, *values in rows}) == 1

    # ZCube: one job to sample, one to write. Delta: the same, and one for each column's ranges.
    jobs = re.search(r"jobs over the whole input\W+(\d+)\W+(\d+)", done.stdout)
    assert jobs is not None
    assert (int(jobs[1]), int(jobs[2])) == (2, 4)

    # The numbers shown are what a different session, this one, would read.
    table = folder / "lineitem-zcube"
    for query in example_queries(0.01):
        shown = re.search(
            re.escape(query.name) + r"\D+([\d.]+) +[\d.]+\D+(\d+) +[\d.]+", done.stdout
        )
        assert shown is not None, query.name
        assert (int(shown[1]), int(shown[2])) == (32, read_by(spark, table, query).files)
    assert read_by(spark, table, example_queries(0.01)[0]).files < len(live_files(table))

    # The three lines at the end run as they are, here in the tests' session.
    lines = done.stdout.strip().splitlines()[-3:]
    exec("\n".join(line.strip() for line in lines), {})
    assert "rewritten to" in capsys.readouterr().out


def test_overlap_is_of_closed_rectangles():
    box = Box((date(1995, 1, 1), date(1995, 1, 31)), (10, 20))
    assert overlaps(box, Box((date(1995, 1, 31), date(1996, 1, 1)), (20, 30)))
    assert not overlaps(box, Box((date(1995, 2, 1), date(1996, 1, 1)), (20, 30)))
    assert not overlaps(box, Box((date(1995, 1, 31), date(1996, 1, 1)), (21, 30)))
    assert overlaps(box, Box((date(1990, 1, 1), date(1999, 1, 1)), (0, 99)))


def test_event_log_is_a_file_url_with_odd_characters(tmp_path):
    settings = event_log.settings(tmp_path / "a b#c")
    assert settings["spark.eventLog.dir"].endswith("/a%20b%23c")
