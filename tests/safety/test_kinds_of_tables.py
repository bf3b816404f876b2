"""OPTIMIZE of tables whose scans Delta and Spark plan differently; the oracle is Delta's OPTIMIZE."""

import re
import shutil

import pyarrow.parquet
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.support.log_replay import data_files_on_disk, last_version, live_files
from tests.support.matrix import cases

CHARS = (
    "id BIGINT, c CHAR(5), v VARCHAR(10), d CHAR(1), n STRUCT<c: CHAR(3), k: INT>, "
    "a ARRAY<CHAR(4)>, m MAP<STRING, CHAR(2)>"
)
CHAR_ROWS = (
    "SELECT id, if(id % 9 = 0, NULL, left(hex(hash(id)), id % 4 + 1)), left(hex(id * 7), 10), "
    "char(65 + id % 26), named_struct('c', left(hex(id), 2), 'k', int(id % 5)), "
    "array('x', left(hex(id), 3)), map('k', 'v') FROM range({start}, {end}, 1, 2)"
)
PLAIN_ROWS = "SELECT id, hash(id), string(id) FROM range({start}, {end}, 1, 2)"
ODD = [
    "_metadata",
    "file_name",
    "__zcube_row_index",
    "__zcube_file_name",
    "a.b",
    "_tmp",
    "row_index",
]
ODDER = [*ODD, "we`ird", "sp ace", "ünï", "__zcube_key", "_row_id"]


def quoted(name):
    return "`" + name.replace("`", "``") + "`"


def odd(names):
    """Columns with these names, Z-ordered by two that are also names used by ZCube."""
    columns = ", ".join(f"{quoted(name)} BIGINT" for name in names)
    values = ", ".join(f"id * {number + 1}" for number, _ in enumerate(names))
    return columns, f"SELECT {values} FROM range({{start}}, {{end}}, 1, 2)"


# Kind of table: columns, properties or clauses, rows, statements between the two inserts, order.
MAPPED = "'delta.columnMapping.mode' = '{}'"
KINDS = {
    "char": (CHARS, "", CHAR_ROWS, [], "c, n.k"),
    "char, clustered": (CHARS, "CLUSTER BY (c, d)", CHAR_ROWS, [], None),
    "char, deletion vectors": (
        CHARS,
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
        CHAR_ROWS,
        ["DELETE FROM {t} WHERE id % 5 = 2"],
        "d, id",
    ),
    "char, partitioned": (CHARS, "PARTITIONED BY (d)", CHAR_ROWS, [], "c"),
    "widened": (
        "id INT, x SMALLINT, f FLOAT",
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "SELECT id, id % 77, id / 3 FROM range({start}, {end}, 1, 2)",
        [f"ALTER TABLE {{t}} ALTER COLUMN {c}" for c in ("id TYPE BIGINT", "x TYPE INT")]
        + ["ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE"],
        "x, f",
    ),
    "defaults": (
        "id BIGINT, x INT DEFAULT 3",
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
        "(id, x) SELECT id, hash(id) FROM range({start}, {end}, 1, 2)",
        [
            "ALTER TABLE {t} ADD COLUMN (late INT)",
            "ALTER TABLE {t} ALTER COLUMN late SET DEFAULT 9",
            "INSERT INTO {t} (id) SELECT id + 5000 FROM range(50)",
        ],
        "x, late",
    ),
    "row tracking": (
        "id BIGINT, x INT, s STRING",
        "TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
        PLAIN_ROWS,
        ["UPDATE {t} SET x = 1 WHERE id % 3 = 0"],
        "x",
    ),
    "mapped by name": (
        "id BIGINT, x INT, s STRING",
        f"TBLPROPERTIES ({MAPPED.format('name')})",
        PLAIN_ROWS,
        [
            "ALTER TABLE {t} RENAME COLUMN x TO y",
            "ALTER TABLE {t} DROP COLUMN s",
            "ALTER TABLE {t} ADD COLUMN (s STRING)",
        ],
        "y",
    ),
    "mapped by id, row tracking": (
        "id BIGINT, x INT, s STRING",
        f"TBLPROPERTIES ({MAPPED.format('id')}, 'delta.enableRowTracking' = 'true')",
        PLAIN_ROWS,
        ["ALTER TABLE {t} RENAME COLUMN x TO y", "UPDATE {t} SET y = 1 WHERE id % 3 = 0"],
        "y, id",
    ),
    "odd names": (odd(ODD)[0], "", odd(ODD)[1], [], "`__zcube_row_index`, `a.b`, `_metadata`"),
    "odder names": (
        odd(ODDER)[0],
        f"TBLPROPERTIES ({MAPPED.format('name')})",
        odd(ODDER)[1],
        [],
        "`__zcube_file_name`, `we``ird`, file_name",
    ),
    "odd types": (
        "id BIGINT, v VARIANT, t TIMESTAMP_NTZ, b BINARY, e DECIMAL(38, 10), f DOUBLE, "
        "n STRUCT<_metadata: STRUCT<row_index: INT>>",
        "",
        "SELECT id, parse_json(concat('{{\"k\":', id, '}}')), "
        "timestamp_ntz '0999-12-31 23:59:59' + make_dt_interval(int(id)), binary(hex(id)), "
        "id / 7, if(id % 50 = 0, double('NaN'), -id), "
        "named_struct('_metadata', named_struct('row_index', int(id))) "
        "FROM range({start}, {end}, 1, 2)",
        [],
        "t, b, f",
    ),
}


# Delta's own OPTIMIZE can't rewrite these: the oracle is what was stored before.
NOT_BY_DELTA = {"odder names"}


def make(spark, path, kind):
    columns, clauses, rows, between, _ = KINDS[kind]
    table = f"delta.`{path}`"
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta {clauses}")
    spark.sql(f"INSERT INTO {table} {rows.format(start=0, end=200)}")
    for statement in between:
        spark.sql(statement.format(t=table))
    spark.sql(f"INSERT INTO {table} {rows.format(start=200, end=300)}")


def stored(path):
    """All stored values of all live files, in no particular order."""
    rows = []
    for file in live_files(path):
        table = pyarrow.parquet.ParquetFile(f"{path}/{file.path}").read()
        rows += [repr(sorted(row.items())) for row in table.to_pylist()]
    return sorted(rows)


def unpadded(rows):
    return sorted(re.sub(r" +'", "'", row) for row in rows)


ALWAYS = {
    "char, clustered",
    "odd types",
}


@pytest.mark.parametrize("kind", cases(KINDS, ALWAYS))
def test_the_same_values_are_stored_as_by_delta(spark, path, tmp_path, delta_only, kind):
    make(spark, path, kind)
    order = KINDS[kind][-1]
    clause = f"ZORDER BY ({order})" if order else "FULL"
    twin = str(tmp_path / "twin")
    shutil.copytree(path, twin)
    before = last_version(path)
    if kind in NOT_BY_DELTA:
        with delta_only(), pytest.raises((PySparkException, Py4JJavaError)):
            spark.sql(f"OPTIMIZE delta.`{twin}` {clause}")
    else:
        with delta_only():
            spark.sql(f"OPTIMIZE delta.`{twin}` {clause}")
    spark.sql(f"OPTIMIZE delta.`{path}` {clause}")
    assert last_version(path) > before
    # Delta pads CHARs on read, and so writes spaces that weren't stored; ZCube doesn't.
    found, expected = unpadded(stored(path)), unpadded(stored(twin))
    assert found == expected
    spark.sql(f"OPTIMIZE delta.`{path}` {clause} OPTIONS ('forecast' = 'true') DRY RUN")
    if order:
        first = order.split(",")[0]
        spark.sql(f"RECOMMEND CLUSTERING delta.`{path}` FOR '{first} IS NOT NULL'").collect()


@pytest.mark.parametrize(
    "setting",
    ["readSideCharPadding=false", "readSideCharPadding=true", "legacy.charVarcharAsString=true"],
)
def test_char_is_stored_again_as_it_was(spark, path, setting):
    # Like other writers, without trailing spaces.
    spark.conf.set("spark.sql.legacy.charVarcharAsString", "true")
    make(spark, path, "char")
    spark.conf.unset("spark.sql.legacy.charVarcharAsString")
    key, value = setting.split("=")
    spark.conf.set(f"spark.sql.{key}", value)
    before = stored(path)
    assert "('d', 'A')" in before[0] or any("'c', 'F'" in row for row in before)
    spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (c, n.k)")
    assert stored(path) == before


@pytest.mark.parametrize("mapped", [False, True])
def test_a_name_that_the_reader_keeps_for_itself_is_rejected(spark, path, mapped):
    properties = f"TBLPROPERTIES ({MAPPED.format('name')})" if mapped else ""
    columns = "(id BIGINT, `_tmp_metadata_row_index` BIGINT)"
    spark.sql(f"CREATE TABLE delta.`{path}` {columns} USING delta {properties}")
    spark.sql(f"INSERT INTO delta.`{path}` SELECT id, id + 7 FROM range(10)")
    files = data_files_on_disk(path)
    with pytest.raises(PySparkException) as error:
        spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id)")
    assert error.value.getCondition() == "ZCUBE_RESERVED_COLUMN"
    assert data_files_on_disk(path) == files
