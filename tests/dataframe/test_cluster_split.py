"""zcube.cluster makes the same files however its input is split into tasks."""

import glob
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import zcube
from zcube import functions as zf

from tests.support import jars
from tests.support.matrix import rest_at_night

# More rows than a sample includes completely.
ROWS, FILES = 160_000, 8
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def source(spark, tmp_path_factory):
    """Rows of nine files, with row groups small enough to be split among tasks."""
    path = str(tmp_path_factory.mktemp("split") / "source")
    rows = spark.range(0, ROWS, 1, 3).selectExpr("id", "hash(id) x", "hash(id, 7) y", "id % 3 p")
    rows.write.option("parquet.block.size", 64 * 1024).partitionBy("p").parquet(path)
    return path


def boxes(path, columns=("x", "y")):
    """Rows and ranges of each file, read with another reader."""
    found = []
    for file in glob.glob(f"{path}/*.parquet"):
        table = pq.read_table(file, columns=list(columns))
        ends = [pc.min_max(table[column]).as_py() for column in columns]
        found.append((table.num_rows, *((e["min"], e["max"]) for e in ends)))
    return sorted(found)


def laid_out(df, path, **arguments):
    zcube.cluster(df, "x", "y", num_partitions=FILES, **arguments).write.mode("overwrite").parquet(
        path
    )
    return boxes(path)


# In more tasks than there are files, in one task, and in between.
SPLITS = rest_at_night(
    [
        {"spark.sql.files.maxPartitionBytes": "64k", "spark.sql.files.openCostInBytes": "1"},
        {"spark.sql.files.minPartitionNum": "1", "spark.sql.files.maxPartitionBytes": "1g"},
        {},
    ],
    [
        {"spark.sql.files.maxPartitionBytes": "1g", "spark.sql.files.openCostInBytes": "1g"},
        {"spark.sql.files.minPartitionNum": "13"},
    ],
)


def over_splits(spark, read, path, **arguments):
    """The layouts, and the number of tasks that read them."""
    found, tasks = [], set()
    for split in SPLITS:
        for key, value in split.items():
            spark.conf.set(key, value)
        df = read()
        tasks.add(df.rdd.getNumPartitions())
        found.append(laid_out(df, path, **arguments))
        for key in split:
            spark.conf.unset(key)
    return found, tasks


@pytest.mark.long
@pytest.mark.parametrize("curve", ["hilbert", "kdtree"])
def test_files_are_the_same_however_the_input_is_split(spark, source, path, curve):
    found, tasks = over_splits(spark, lambda: spark.read.parquet(source), path, curve=curve)
    assert len(tasks) >= 3
    assert sum(box[0] for box in found[0]) == ROWS
    assert all(layout == found[0] for layout in found)
    largest, smallest = max(b[0] for b in found[0]), min(b[0] for b in found[0])
    assert largest < 1.1 * smallest


@pytest.mark.long
def test_filtered_and_computed_columns_do_not_depend_on_the_split(spark, source, path):
    def read():
        rows = spark.read.parquet(source).where("p < 2 AND x IS NOT NULL")
        return rows.selectExpr("-x AS x", "y", "id + 1 AS more")

    found, _ = over_splits(spark, read, path)
    assert all(layout == found[0] for layout in found)


@pytest.mark.long
def test_one_core_makes_the_same_files_as_two(spark, source, path, tmp_path):
    here = laid_out(spark.read.parquet(source), path)
    other = str(tmp_path / "other")
    code = (
        "import sys, zcube; from pyspark.sql import SparkSession\n"
        "builder = SparkSession.builder.master('local[1]').config('spark.ui.enabled', 'false')\n"
        "builder = builder.config('spark.jars', sys.argv[3])\n"
        "spark = zcube.configure(builder).getOrCreate()\n"
        "df = spark.read.parquet(sys.argv[1])\n"
        f"zcube.cluster(df, 'x', 'y', num_partitions={FILES}).write.parquet(sys.argv[2])\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, source, other, jars.of_session()],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert boxes(other) == here


@pytest.mark.long
def test_rows_that_come_from_no_file_are_ordered_by_their_contents(spark, source, path):
    """Only contents matter, not how rows are divided or ordered."""
    rows = spark.read.parquet(source)
    frames = rest_at_night(
        [rows.repartition(7), rows.orderBy("y").coalesce(2), rows.distinct()],
        [rows.coalesce(1).repartition(2), rows.repartition(3, "y")],
    )
    found = [laid_out(frame, path) for frame in frames]
    assert sum(box[0] for box in found[0]) == ROWS
    assert all(layout == found[0] for layout in found)


@pytest.mark.long
def test_values_of_every_kind_do_not_depend_on_the_split(spark, path):
    rows = spark.range(120_000).selectExpr(
        "hash(id) x",
        "CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D ELSE id END y",
        "map('k', id) m",
        "array(map('k', id)) nested",
        "parse_json('{\"a\": ' || id || '}') v",
        "collate(string(id % 100), 'UTF8_LCASE') s",
        "named_struct('a', id, 'b', float('NaN')) t",
    )
    found = []
    for partitions in (2, 5):
        clustered = zcube.cluster(rows.repartition(partitions), "x", "y", num_partitions=FILES)
        clustered.write.mode("overwrite").parquet(path)
        found.append(boxes(path, ["x"]))
    assert sum(box[0] for box in found[0]) == 120_000
    assert found[0] == found[1]


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_row_that_is_repeated_crowds_out_no_others(spark, path, share):
    """It is neither missed nor does it crowd out all others.

    Equal rows stay together, because each must go to the same place whenever it is recomputed.
    """
    rows = spark.range(ROWS).selectExpr(
        f"IF(id < {int(ROWS * share)}, 1, hash(id)) x", f"IF(id < {int(ROWS * share)}, 1, id) y"
    )
    found = laid_out(rows.repartition(4), path)
    assert sum(box[0] for box in found) == ROWS
    # Of the files that the repeated row would fill, one has it. The others are empty, but for one that
    # may end a few rows later. For no rows, Spark writes one file, for the schema.
    others = [box for box in found if 100 < box[0] < ROWS * share]
    assert len(others) == (FILES / 2 if share < 1 else 0)
    assert all(box[0] < 1.25 * ROWS / FILES for box in others)


def test_range_ids_do_not_depend_on_the_split(spark, source):
    def ids(split, frame=lambda rows: rows):
        for key, value in split.items():
            spark.conf.set(key, value)
        rows = frame(spark.read.parquet(source)).select(
            "id", zf.range_partition_id("x", 50).alias("r")
        )
        found = rows.selectExpr("sum(hash(id, r))", "count(*)").first()
        for key in split:
            spark.conf.unset(key)
        return tuple(found)

    assert len({ids(split) for split in SPLITS}) == 1
    frames = [lambda rows, n=n: rows.repartition(n) for n in (2, 5)]
    assert len({ids({}, frame) for frame in frames}) == 1
