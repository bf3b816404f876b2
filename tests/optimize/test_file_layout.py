"""What the files look like after OPTIMIZE … ZORDER BY: order, sizes, determinism, quality."""

import random
import shutil

import pyarrow.parquet as pq
import pytest
import zcube

from tests.reference import curves
from tests.support import checksum
from tests.support.log_replay import live_files
from tests.support.matrix import cases
from tests.support.templates import written_once


def optimize(spark, path, clause):
    before = checksum.multiset(spark.read.format("delta").load(path))
    spark.sql(f"OPTIMIZE delta.`{path}` {clause}")
    assert checksum.multiset(spark.read.format("delta").load(path)) == before


def target(spark, size):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size))


@pytest.mark.parametrize(
    ("curve", "place"), [("zorder", curves.morton), ("hilbert", curves.hilbert)]
)
def test_rows_are_in_curve_order_in_and_across_files(spark, path, curve, place):
    """Here the sample is the whole table, so ranks can be computed independently."""
    rng = random.Random(3)
    rows = [
        (rng.choice([None, rng.randrange(300)]) if rng.random() < 0.2 else rng.randrange(300),
         f"k{int(rng.paretovariate(0.5)) % 90:03d}", rng.random())
        for _ in range(5000)
    ]  # fmt: skip
    spark.createDataFrame(rows, "x INT, s STRING, z DOUBLE").repartition(4).write.format(
        "delta"
    ).save(path)
    target(spark, 12 << 10)
    optimize(spark, path, f"ZORDER BY (x, s) OPTIONS ('curve' = '{curve}')")
    bits = 10
    rank_x = dict(
        zip((r[0] for r in rows), curves.ranks([r[0] for r in rows], 1 << bits), strict=True)
    )
    rank_s = dict(
        zip((r[1] for r in rows), curves.ranks([r[1] for r in rows], 1 << bits), strict=True)
    )
    spans = []
    for file in live_files(path):
        table = pq.read_table(f"{path}/{file.path}").to_pylist()
        keys = [place((rank_x[r["x"]], rank_s[r["s"]]), bits) for r in table]
        assert keys == sorted(keys)
        spans.append((keys[0], keys[-1]))
    spans.sort()
    assert len(spans) > 4
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))


@written_once
def write(spark, path, rows, x):
    spark.range(0, rows, 1, 3).selectExpr(
        "id", f"{x} x", "hash(id, 1) y", "sha1(string(id)) payload"
    ).write.format("delta").save(path)


def wide_table(spark, path, rows=120_000, x="hash(id)"):
    """By default of more rows than a sample includes completely."""
    write(spark, path, rows, x)
    return sum(f.size for f in live_files(path))


@pytest.mark.parametrize("parts", cases([1.9, 5.0, 12.3], set()))
def test_sizes_are_near_the_target(spark, path, parts):
    total = wide_table(spark, path)
    size = int(total / parts)
    target(spark, size)
    optimize(spark, path, "ZORDER BY (x, y)")
    sizes = [f.size for f in live_files(path)]
    assert all(0.5 * size <= s <= 1.25 * size for s in sizes), [s / size for s in sizes]


def test_max_records_per_file_is_kept_with_sizes_and_order(spark, path):
    wide_table(spark, path, 60_000)
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "5000")
    optimize(spark, path, "ZORDER BY (x)")
    files = sorted(live_files(path), key=lambda f: f.minimum["x"])
    assert all(f.rows <= 5000 for f in files)
    assert all(a.maximum["x"] <= b.minimum["x"] for a, b in zip(files, files[1:], strict=False))
    assert all(f.rows >= 0.5 * 5000 for f in files)


@pytest.mark.parametrize("spread", ["true", "false"])
def test_a_value_too_frequent_for_a_file_is_spread_unless_switched_off(spark, path, spread):
    total = wide_table(spark, path, 60_000, "if(id % 10 < 6, 7, id)")
    target(spark, total // 10)
    spark.conf.set("spark.databricks.io.skipping.mdc.addNoise", spread)
    optimize(spark, path, "ZORDER BY (x)")
    files = live_files(path)
    holding = [f for f in files if f.minimum["x"] <= 7 <= f.maximum["x"]]
    if spread == "true":
        assert 6 <= len(holding) <= 8
        assert max(f.size for f in files) < 1.25 * total / 10
    else:
        assert len(holding) == 1


@pytest.mark.long
def test_the_number_of_ranges_can_be_set(spark, path):
    wide_table(spark, path, 20_000)
    target(spark, 50 << 10)
    spark.conf.set("spark.databricks.io.skipping.mdc.rangeId.max", "4")
    optimize(spark, path, "ZORDER BY (x) OPTIONS ('curve' = 'linear')")
    # Four ranks and noise: files share the four ranges of x, and none is narrower than a range.
    files = live_files(path)
    assert len(files) > 8
    assert min(f.maximum["x"] - f.minimum["x"] for f in files) > 2**32 / 4 * 0.8


@pytest.mark.long
def test_the_number_of_files_follows_the_target_size(spark, path):
    total = wide_table(spark, path)
    for wanted in (1, 3, 25):
        target(spark, total // wanted + 1000)
        optimize(spark, path, "ZORDER BY (x, y)")
        assert abs(len(live_files(path)) - wanted) <= max(1, wanted // 10)


@pytest.mark.long
def test_the_same_table_gives_the_same_files(spark, path):
    """Also if the input is divided into different tasks, as with another number of cores."""
    spark.range(0, 160_000, 1, 5).selectExpr(
        "id", "hash(id) x", "if(id % 3 = 0, 5, hash(id, 1)) y"
    ).write.format("delta").save(path)
    copy = path + "-copy"
    shutil.copytree(path, copy)
    target(spark, 120 << 10)
    optimize(spark, path, "ZORDER BY (y, x)")
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(100 << 10))
    spark.conf.set("spark.sql.files.openCostInBytes", "1")
    optimize(spark, copy, "ZORDER BY (y, x)")
    assert len(live_files(path)) > 8
    assert boxes(path) == boxes(copy)


def boxes(path):
    return sorted(repr(file.box) for file in live_files(path))


def files_read(files, query):
    def may_match(file, column, low, high):
        return file.minimum[column] <= high and file.maximum[column] >= low

    kind, *ranges = query
    combine = any if kind == "or" else all
    return sum(combine(may_match(f, c, low, high) for c, low, high in ranges) for f in files)


def queries(columns, span, number, seed):
    rng = random.Random(seed)
    made = []
    for i in range(number):
        kind = ("range", "box", "point", "or")[i % 4]
        share = {"range": 0.01, "box": 0.1, "point": 0.0, "or": 0.01}[kind]
        wanted = rng.sample(columns, 1 if kind in ("range", "point") else 2)
        ranges = []
        for column in wanted:
            low = rng.uniform(span[0], span[1])
            ranges.append((column, low, low + share * (span[1] - span[0])))
        made.append((kind, *ranges))
    return made


@pytest.mark.long
@pytest.mark.parametrize("columns", [["x", "y"], ["x", "y", "z"]])
def test_no_worse_than_delta_over_200_queries(spark, path, columns):
    spark.range(0, 120_000, 1, 4).selectExpr(
        "id", "hash(id) x", "hash(id, 1) y", "hash(id, 2) z"
    ).write.format("delta").save(path)
    copy = path + "-delta"
    shutil.copytree(path, copy)
    target(spark, sum(f.size for f in live_files(path)) // 60)
    by = f"ZORDER BY ({', '.join(columns)})"
    optimize(spark, path, by)
    spark.conf.set("spark.zcube.enabled", "false")
    optimize(spark, copy, by)
    ranges = queries(columns, (-(2**31), 2**31), 200, seed=11)
    ours, theirs = live_files(path), live_files(copy)
    read = sum(files_read(ours, q) for q in ranges)
    assert read <= 1.05 * sum(files_read(theirs, q) for q in ranges)
    # The counted files are what Spark reads.
    column, low, high = ranges[0][1]
    df = spark.read.format("delta").load(path).where(f"{column} BETWEEN {low} AND {high}")
    assert len(df.inputFiles()) == files_read(ours, ranges[0])


@pytest.mark.parametrize(("curve", "expected"), [("zorder", 7), ("linear", 9)])
def test_sixteen_files_of_an_8_by_8_grid_skip_as_the_curve_promises(spark, path, curve, expected):
    """x = 2 OR y = 2 reads 7 files of 16 in Z-order, 9 in linear order."""
    grid = spark.range(64).selectExpr("cast(id % 8 AS INT) x", "cast(id DIV 8 AS INT) y")
    clustered = zcube.cluster(grid, "x", "y", curve=curve, num_partitions=16)
    partitions = clustered.rdd.glom().collect()
    assert [len(rows) for rows in partitions] == [4] * 16
    for v in (0, 2):
        # A file is skipped by its minima and maxima.
        reads = sum(
            any(min(r[c] for r in rows) <= v <= max(r[c] for r in rows) for c in ("x", "y"))
            for rows in partitions
        )
        assert reads == expected
