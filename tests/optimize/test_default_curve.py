"""OPTIMIZE without a given curve uses kdtree, and files with another layout stay until FULL."""

import itertools
import shutil

import pyarrow.parquet as pq
import pytest
from zcube import ClusteredTable

from tests.support import checksum
from tests.support.log_replay import live_files
from tests.support.matrix import cases
from tests.support.templates import written_once

SETTING = "spark.zcube.layout.curve"


def append(spark, path, start, count):
    spark.range(start, start + count, 1, 2).selectExpr(
        "id", "hash(id) x", "hash(id, 1) y"
    ).write.format("delta").mode("append").save(path)


@written_once
def make(spark, path, clustered):
    """A table of 8,000 rows."""
    if clustered:
        spark.sql(
            f"CREATE TABLE delta.`{path}` (id BIGINT, x INT, y INT) USING delta CLUSTER BY (x, y)"
        )
    append(spark, path, 0, 8000)


@pytest.fixture(params=cases(["zorder by", "cluster by"], {"cluster by"}))
def table(request, spark, path):
    """The OPTIMIZE call of such a table."""
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(16 << 10))
    clustered = request.param == "cluster by"
    make(spark, path, clustered)
    by = {} if clustered else {"zorder_by": ["x", "y"]}
    table = ClusteredTable.for_path(spark, path)
    return lambda **how: table.optimize(**by, **how)


def curves(path):
    found = {}
    for file in live_files(path):
        found.setdefault(file.tags.get("ZCUBE_ZORDER_CURVE"), set()).add(file.path)
    return found


def apart(file, other):
    return any(
        file.maximum[c] < other.minimum[c] or other.maximum[c] < file.minimum[c] for c in "xy"
    )


def test_the_default_makes_boxes_that_do_not_overlap(spark, path, table):
    table()
    files = live_files(path)
    assert set(curves(path)) == {"kdtree"}
    assert len(files) > 4
    assert all(apart(a, b) for a, b in itertools.combinations(files, 2))


def test_cubes_along_another_curve_stay_until_full(spark, path, table):
    table(curve="zorder")
    old = curves(path)["zorder"]
    assert table().files_removed == 0
    append(spark, path, 100_000, 4000)
    before = checksum.multiset(spark.read.format("delta").load(path))
    result = table()
    assert result.kept == {"another curve, weights or workload, until OPTIMIZE FULL": len(old)}
    found = curves(path)
    assert set(found) == {"zorder", "kdtree"}
    assert found["zorder"] == old
    assert table().files_removed == 0
    # With Delta's merge policy, which would merge everything.
    assert table(merge_policy="all").files_removed == 0
    assert table(full=True).files_removed > 0
    assert set(curves(path)) == {"kdtree"}
    assert checksum.multiset(spark.read.format("delta").load(path)) == before


def test_files_of_such_cubes_that_lost_rows_are_rewritten(spark, path, table):
    spark.sql(
        f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    )
    table(curve="zorder")
    worn = live_files(path)[0]
    low, high = worn.minimum["id"], worn.maximum["id"]
    names = {file.path for file in live_files(path)}
    spark.sql(
        f"DELETE FROM delta.`{path}` WHERE x BETWEEN {worn.minimum['x']} AND {worn.maximum['x']} "
        f"AND y BETWEEN {worn.minimum['y']} AND {worn.maximum['y']} AND id BETWEEN {low} AND {high} "
        "AND id % 2 = 0"
    )
    before = checksum.multiset(spark.read.format("delta").load(path))
    result = table()
    assert result.cubes[0].reasons["deleted rows"] == result.files_removed > 0
    found = curves(path)
    assert worn.path not in found["zorder"]
    assert found["zorder"] < names
    assert found["kdtree"]
    assert checksum.multiset(spark.read.format("delta").load(path)) == before


@pytest.mark.parametrize(
    ("table", "curve"),
    cases(
        itertools.product(["zorder by", "cluster by"], ["zorder", "hilbert", "linear"]),
        {("zorder by", "hilbert"), ("cluster by", "zorder")},
    ),
    indirect=["table"],
)
def test_the_setting_changes_the_default_for_new_cubes_only(spark, path, table, curve):
    spark.conf.set(SETTING, curve)
    table()
    assert set(curves(path)) == {curve}
    ours = sorted(repr(file.box) for file in live_files(path))
    spark.conf.unset(SETTING)
    # A setting is a default too: changing it rewrites nothing.
    assert table().files_removed == 0
    table(full=True)
    assert set(curves(path)) == {"kdtree"}
    assert sorted(repr(file.box) for file in live_files(path)) != ours
    table(full=True, curve=curve)
    assert sorted(repr(file.box) for file in live_files(path)) == ours


@pytest.mark.long
def test_a_curve_that_zorder_by_names_is_asked_for(spark, path):
    append(spark, path, 0, 4000)
    table = ClusteredTable.for_path(spark, path)
    table.optimize(zorder_by=["x", "y"], curve="zorder")
    old = len(live_files(path))
    assert table.optimize(zorder_by=["x", "y"], curve="kdtree").files_removed == old
    # The same for weights; a later run without weights keeps them.
    old = len(live_files(path))
    assert table.optimize(zorder_by=["x", "y"], weights={"x": 3}).files_removed == old
    assert set(curves(path)) == {"kdtree"}
    assert table.optimize(zorder_by=["x", "y"]).files_removed == 0


def test_one_column_is_laid_out_as_by_linear(spark, path):
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(8 << 10))
    spark.range(0, 8000, 1, 2).selectExpr(
        "id", "if(id % 7 = 0, NULL, if(id % 3 = 0, 5, hash(id) % 3000)) x"
    ).write.format("delta").save(path)
    copy = path + "-copy"
    shutil.copytree(path, copy)

    def rows_by_file(table_path):
        files = sorted(live_files(table_path), key=lambda file: file.path)
        return [
            pq.read_table(f"{table_path}/{file.path}", columns=["x"])["x"].to_pylist()
            for file in files
        ]

    def ordered(rows):
        return sorted(rows, key=lambda x: (x is not None, x))

    ClusteredTable.for_path(spark, path).optimize(zorder_by=["x"])
    ClusteredTable.for_path(spark, copy).optimize(zorder_by=["x"], curve="linear")
    assert set(curves(path)) == {"kdtree"}
    assert set(curves(copy)) == {"linear"}
    ours = sorted(map(str, map(ordered, rows_by_file(path))))
    assert len(ours) > 3
    assert ours == sorted(map(str, map(ordered, rows_by_file(copy))))


def test_a_column_without_minima_is_not_cut_by(spark, path):
    """Delta keeps no statistics for booleans: queries can't distinguish files that differ only in one."""
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(8 << 10))
    spark.range(0, 8000, 1, 2).selectExpr("id", "hash(id) > 0 b", "hash(id, 1) x").write.format(
        "delta"
    ).save(path)
    ClusteredTable.for_path(spark, path).optimize(zorder_by=["b", "x"])
    files = sorted(live_files(path), key=lambda file: file.minimum["x"])
    assert len(files) > 4
    assert all("b" not in file.minimum for file in files)
    assert all(a.maximum["x"] < b.minimum["x"] for a, b in itertools.pairwise(files))
