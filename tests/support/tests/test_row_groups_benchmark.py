"""The row groups that benchmarks.quality counts; no Spark."""

import datetime

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.quality.queries import Query
from benchmarks.quality.row_groups import as_markdown, read


def test_row_groups_are_counted_by_the_statistics_in_the_files(tmp_path):
    day = datetime.date(2026, 1, 1)
    files = []
    for number in range(2):
        # 1000 days in row groups of 100, c1 the same in all of them.
        days = [day + datetime.timedelta(1000 * number + i) for i in range(1000)]
        file = str(tmp_path / f"{number}.parquet")
        pq.write_table(pa.table({"c0": days, "c1": [7] * 1000}), file, row_group_size=100)
        files.append(file)

    def after(days):
        return (day + datetime.timedelta(days)).isoformat()

    found = read(
        files,
        [
            Query("range", ((0, after(150), after(399)),)),
            Query("box", ((0, after(950), after(1050)), (1, 7, 7))),
            Query("point", ((0, after(5), after(5)), (1, 8, 8))),
            Query("or", ((0, after(5), after(5)), (1, 8, 8))),
        ],
    )
    assert (found["files"], found["row_groups"]) == (2, 20)
    assert found["read"] == {
        "range": {"files": 1, "row_groups": 3, "in_files": 10},
        "box": {"files": 2, "row_groups": 2, "in_files": 20},
        "point": {"files": 0, "row_groups": 0, "in_files": 0},
        "or": {"files": 1, "row_groups": 1, "in_files": 10},
    }
    table = as_markdown({"cpu": "some"}, "days", {"sorted": found})
    assert "| sorted | 2, 20 | 0.5 % / 0.1 % / 30.0 % |" in table
