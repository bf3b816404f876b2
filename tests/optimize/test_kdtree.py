"""The layout kdtree: OPTIMIZE … ZORDER BY, CLUSTER BY and zcube.cluster, with weights of columns."""

import glob
import itertools
import random
import shutil

import pyarrow.parquet as pq
import pytest
import zcube
from pyspark.errors import AnalysisException, PySparkException
from zcube import ClusteredTable, ZCubeError

from tests.support import checksum, skipping
from tests.support.log_replay import last_version, live_files
from tests.support.matrix import cases
from tests.support.templates import written_once

ROWS = 30_000


@written_once
def write(spark, path, rows=ROWS):
    spark.range(0, rows, 1, 3).selectExpr(
        "id", "hash(id) x", "hash(id, 1) y", "if(id % 5 = 0, NULL, id % 4) z"
    ).write.format("delta").save(path)


def optimize(spark, path, files, *, by="x, y", options="'curve' = 'kdtree'"):
    """Run it into about ``files`` files, and check that the rows are the same as before."""
    before = checksum.multiset(spark.read.format("delta").load(path))
    size = sum(file.size for file in live_files(path))
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(int(size / files / 1.02)))
    clause = f"ZORDER BY ({by})" if by else ""
    options = f"OPTIONS ({options})" if options else ""
    spark.sql(f"OPTIMIZE delta.`{path}` {clause} {options}")
    assert checksum.multiset(spark.read.format("delta").load(path)) == before
    return live_files(path)


def boxes(files):
    return sorted(repr(file.box) for file in files)


def apart(file, other, columns):
    return any(
        file.maximum[c] < other.minimum[c] or other.maximum[c] < file.minimum[c] for c in columns
    )


@pytest.mark.parametrize("wanted", cases([17, 24], {17}))
def test_files_are_even_boxes_that_do_not_overlap(spark, path, wanted):
    write(spark, path)
    files = optimize(spark, path, wanted)
    assert len(files) == wanted
    assert all(0.8 * ROWS / wanted < f.rows < 1.2 * ROWS / wanted for f in files)
    assert all(apart(a, b, ("x", "y")) for a, b in itertools.combinations(files, 2))
    assert {f.tags["ZCUBE_ZORDER_CURVE"] for f in files} == {"kdtree"}
    # A quarter of a file's rows, in file order, covers about a quarter of its box.
    rows = pq.read_table(f"{path}/{files[0].path}", columns=["x", "y"]).to_pylist()

    def area(some):
        return [max(r[c] for r in some) - min(r[c] for r in some) for c in ("x", "y")]

    (width, height), step = area(rows), len(rows) // 4 + 1
    parts = [area(rows[at : at + step]) for at in range(0, len(rows), step)]
    assert sum(w * h for w, h in parts) < 1.5 * width * height


@pytest.mark.long
def test_the_same_table_gives_the_same_files_and_a_second_run_nothing(spark, path):
    write(spark, path)
    copy = path + "-copy"
    shutil.copytree(path, copy)
    options = "'curve' = 'kdtree', 'weights' = 'y=2.5'"
    ours = optimize(spark, path, 12, by="z, x, y", options=options)
    # As with more cores: many more tasks read the input.
    spark.conf.set("spark.sql.files.maxPartitionBytes", str(100 << 10))
    spark.conf.set("spark.sql.files.openCostInBytes", "1")
    theirs = optimize(spark, copy, 12, by="z, x, y", options=options)
    assert len(ours) == 12
    assert boxes(ours) == boxes(theirs)
    version = last_version(path)
    optimize(spark, path, 12, by="z, x, y", options="'weights' = 'Y=5,x=2,z=2', 'CURVE' = 'KdTree'")
    assert last_version(path) == version
    # Other weights are another layout.
    optimize(spark, path, 12, by="z, x, y", options="'curve' = 'kdtree'")
    assert last_version(path) == version + 1


def test_low_cardinality_and_null_have_files_of_their_own(spark, path):
    write(spark, path)
    files = optimize(spark, path, 20, by="z, x")
    # Five values, NULL one of them, a fifth of the rows each: no file need hold two.
    assert all(
        f.null_count["z"] == f.rows or (f.null_count["z"] == 0 and f.minimum["z"] == f.maximum["z"])
        for f in files
    )


@pytest.mark.long
def test_a_frequent_combination_is_spread(spark, path):
    spark.range(0, 40_000, 1, 2).selectExpr(
        "if(id % 2 = 0, 5, hash(id)) x", "if(id % 2 = 0, 5, hash(id, 1)) y", "uuid() payload"
    ).write.format("delta").save(path)
    files = optimize(spark, path, 16)
    assert len(files) == 16
    holding = [f for f in files if skipping.equal_to("x", 5)(f) and skipping.equal_to("y", 5)(f)]
    assert 8 <= len(holding) <= 10
    assert all(f.rows < 1.25 * 40_000 / 16 for f in files)


@pytest.mark.long
def test_weights_move_the_cuts(spark, path):
    write(spark, path)

    def read(column):
        files = live_files(path)
        step = 2**32 // 100
        lows = range(-(2**31), 2**31 - step, step)
        return sum(
            len(skipping.must_read(files, skipping.between(column, low, low + step)))
            for low in lows
        ) / (len(lows) * len(files))

    optimize(spark, path, 32)
    even = read("x"), read("y")
    optimize(spark, path, 32, options="'curve' = 'kdtree', 'weights' = 'x=8'")
    assert read("x") < 0.7 * even[0]
    assert read("y") > 1.3 * even[1]
    optimize(spark, path, 32, options="'curve' = 'kdtree', 'weights' = 'y=8'")
    assert read("y") < 0.7 * even[1]


@pytest.mark.parametrize("columns", cases([["x", "y"], ["x", "y", "z"]], lambda c: len(c) == 3))
def test_far_fewer_files_read_than_after_deltas_zorder(spark, path, delta_only, columns):
    write(spark, path)
    copy = path + "-delta"
    shutil.copytree(path, copy)
    by = ", ".join(columns)
    ours = optimize(spark, path, 40, by=by)
    with delta_only():
        theirs = optimize(spark, copy, 40, by=by, options=None)
    rng = random.Random(12)
    rows = spark.read.format("delta").load(path).select(*columns).dropna().limit(2000).collect()
    share = {"range": [], "box": [], "point": [], "or": []}
    for number in range(200):
        a, b = rng.choice(rows), rng.choice(rows)
        column, other = rng.sample(columns, 2)
        # z has few values: a range of it is one value.
        hundredth, tenth = ({"x": step, "y": step, "z": 0} for step in (2**32 // 100, 2**32 // 10))
        query = {
            "range": skipping.between(column, a[column], a[column] + hundredth[column]),
            "box": skipping.all_of(*(skipping.between(c, a[c], a[c] + tenth[c]) for c in columns)),
            "point": skipping.all_of(*(skipping.equal_to(c, a[c]) for c in columns)),
            "or": skipping.any_of(
                skipping.equal_to(column, a[column]), skipping.equal_to(other, b[other])
            ),
        }
        kind = list(query)[number % 4]
        share[kind].append(
            (
                len(skipping.must_read(ours, query[kind])) / len(ours),
                len(skipping.must_read(theirs, query[kind])) / len(theirs),
            )
        )
    ratios = {k: sum(o for o, _ in v) / sum(t for _, t in v) for k, v in share.items()}
    assert ratios["point"] < 0.6, ratios
    assert all(ratio < 0.85 for ratio in ratios.values()), ratios


def test_weights_of_a_clustered_table_by_python_keep_their_cubes(spark, name):
    spark.sql(f"CREATE TABLE {name} (id BIGINT, x INT, y INT) USING delta CLUSTER BY (x, y)")
    rows = spark.range(0, 20_000, 1, 2).selectExpr("id", "hash(id) x", "hash(id, 1) y")
    rows.write.format("delta").mode("append").saveAsTable(name)
    table = ClusteredTable.for_name(spark, name)
    done = table.optimize(curve="kdtree", weights={"`x`": 3, "Y": 1}, max_file_size=20_000)
    assert done.files_added > 5
    again = table.optimize(curve="kdtree", weights={"x": 3.0}, max_file_size=20_000)
    assert again.files_removed == 0
    location = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["location"]
    files = live_files(location.removeprefix("file:"))
    assert {f.tags["ZCUBE_ZORDER_CURVE"] for f in files} == {"kdtree"}
    assert all(apart(a, b, ("x", "y")) for a, b in itertools.combinations(files, 2))


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("'curve' = 'kdtree', 'weights' = 'x'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'weights' = 'x=0'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'weights' = 'x=-1,y=2'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'weights' = 'x=1,X=2'", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'weights' = ''", "ZCUBE_INVALID_OPTION"),
        ("'curve' = 'kdtree', 'weights' = 'z=1'", "ZCUBE_UNKNOWN_WEIGHT"),
        ("'curve' = 'hilbert', 'weights' = 'x=1'", "ZCUBE_WEIGHTS_NOT_TAKEN"),
        ("'curve' = 'zorder', 'weights' = 'x=1'", "ZCUBE_WEIGHTS_NOT_TAKEN"),
        # The default curve accepts them, and errors in them are rejected.
        ("'weights' = 'x=0'", "ZCUBE_INVALID_OPTION"),
    ],
)
def test_wrong_weights_are_rejected_in_sql(spark, path, options, condition):
    write(spark, path, rows=10)
    with pytest.raises(PySparkException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (x, y) OPTIONS ({options})")
    assert error.value.getCondition() == condition


@pytest.mark.parametrize(
    ("weights", "curve", "message"),
    [
        ({"x": 0}, "kdtree", "weight of x must be a number greater than 0"),
        ({"x": float("nan")}, "kdtree", "greater than 0"),
        ({"x": True}, "kdtree", "greater than 0"),
        ({"x": 1, "X": 2}, "kdtree", "twice"),
        ({}, "kdtree", "at least one column"),
        ([1, 2], "kdtree", "must be a dict"),
        ({"x": 2}, "hilbert", "hilbert takes no weights"),
    ],
)
def test_wrong_weights_are_rejected_in_python(spark, weights, curve, message):
    with pytest.raises(ZCubeError, match=message):
        zcube.cluster(spark.range(3).toDF("x"), "x", curve=curve, weights=weights)
    with pytest.raises(ZCubeError, match=message):
        ClusteredTable.for_path(spark, "/no/such/table").optimize(curve=curve, weights=weights)


def test_weights_of_a_dataframe_move_the_cuts(spark, path):
    rows = spark.range(0, 30_000, 1, 2).selectExpr("id", "hash(id) x", "hash(id, 1) y")
    with pytest.raises(ZCubeError, match="weights names z"):
        zcube.cluster(rows, "x", "y", curve="kdtree", weights={"z": 1})
    for weights, min_slices, max_slices in ((None, 3, 7), ({"x": 50}, 18, 18)):
        clustered = zcube.cluster(
            rows, "x", "y", curve="kdtree", weights=weights, num_partitions=18
        )
        clustered.write.mode("overwrite").parquet(path)
        found = []
        for file in glob.glob(f"{path}/*.parquet"):
            x = pq.read_table(file, columns=["x"]).column("x").to_numpy()
            found.append((int(x.min()), int(x.max())))
        assert len(found) == 18
        # How many intervals of x lie side by side.
        slices, end = 0, -(2**31) - 1
        for low, high in sorted(found, key=lambda interval: interval[1]):
            if low > end:
                slices, end = slices + 1, high
        assert min_slices <= slices <= max_slices
    assert checksum.multiset(spark.read.parquet(path)) == checksum.multiset(rows)


@pytest.mark.parametrize(
    ("weights", "curve", "condition"),
    [
        ("[1]", "kdtree", "ZCUBE_INVALID_OPTION"),
        ('[1, "a"]', "kdtree", "ZCUBE_INVALID_OPTION"),
        ("[1, 0]", "kdtree", "ZCUBE_INVALID_OPTION"),
        ("[1, 2]", "zorder", "ZCUBE_WEIGHTS_NOT_TAKEN"),
    ],
)
def test_wrong_weights_are_rejected_in_the_hint(spark, weights, curve, condition):
    spec = f'{{"columns": [["x"], ["y"]], "curve": "{curve}", "weights": {weights}}}'
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"SELECT /*+ ZCUBE_CLUSTER('{spec}') */ id x, id y FROM range(3)").collect()
    assert error.value.getCondition() == condition
