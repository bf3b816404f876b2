"""After OPTIMIZE, other readers of Delta tables read the same rows as before."""

from pathlib import Path

import duckdb
import duckdb_extension_delta
import pytest
from deltalake import DeltaTable

from tests.support import kernel_reader
from tests.support.log_replay import last_version
from tests.support.matrix import cases

ROWS = "SELECT id, hash(id) x, hex(id) s FROM range({start}, {end}, 1, 2)"
COLUMNS = "id BIGINT, x INT, s STRING"
# Partition values that are hard to write into a path or to read from one.
TEXTS = ["NULL", "''", "'a b'", "'a/b'", "'50%'", "'%41'", "'ü–日'", "'x=y'", "'a\"b'"]
TEXT = f"element_at(array({', '.join(TEXTS)}), int(id % {len(TEXTS)}) + 1)"


def properties(**values):
    texts = ", ".join(f"'delta.{key.replace('_', '.')}' = '{v}'" for key, v in values.items())
    return f"TBLPROPERTIES ({texts})"


# Kind of table: columns, clauses, rows, statements after the inserts, columns to order by.
KINDS = {
    "plain": (COLUMNS, "", ROWS, [], "x, s"),
    "clustered": (COLUMNS, "CLUSTER BY (x, s)", ROWS, [], None),
    "text partitions": (
        "id BIGINT, x INT, p STRING",
        "PARTITIONED BY (p)",
        f"SELECT id, hash(id), {TEXT} FROM range({{start}}, {{end}}, 1, 2)",
        [],
        "x",
    ),
    "other partitions": (
        "id BIGINT, x INT, t TIMESTAMP, d DATE, b BOOLEAN, e DECIMAL(9, 2)",
        "PARTITIONED BY (t, d, b, e)",
        "SELECT id, hash(id), if(id % 3 = 0, NULL, timestamp '1955-11-05 06:15:00.123456'), "
        "if(id % 3 = 1, NULL, date '0999-12-31'), id % 2 = 0, -7.5 "
        "FROM range({start}, {end}, 1, 2)",
        [],
        "x",
    ),
    "deletion vectors": (
        COLUMNS,
        properties(enableDeletionVectors="true"),
        ROWS,
        ["DELETE FROM {t} WHERE id % 5 = 2"],
        "x",
    ),
    "mapped by name": (
        COLUMNS,
        properties(columnMapping_mode="name"),
        ROWS,
        [
            "ALTER TABLE {t} RENAME COLUMN x TO `x y`",
            "ALTER TABLE {t} DROP COLUMN s",
            "ALTER TABLE {t} ADD COLUMN (s STRING)",
        ],
        "`x y`",
    ),
    "mapped by id": (
        COLUMNS,
        properties(columnMapping_mode="id"),
        ROWS,
        ["ALTER TABLE {t} RENAME COLUMN x TO y"],
        "y",
    ),
    "row tracking": (
        COLUMNS,
        properties(enableRowTracking="true"),
        ROWS,
        ["UPDATE {t} SET x = 1 WHERE id % 3 = 0"],
        "x",
    ),
    "widened": (
        "id INT, x SMALLINT",
        properties(enableTypeWidening="true"),
        "SELECT id, id % 77 FROM range({start}, {end}, 1, 2)",
        [
            "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
            "ALTER TABLE {t} ALTER COLUMN x TYPE INT",
            "INSERT INTO {t} VALUES (5000000000, 70000)",
        ],
        "x",
    ),
    "variant": (
        "id BIGINT, x INT, v VARIANT",
        "",
        "SELECT id, hash(id), parse_json(concat('[', id, ']')) FROM range({start}, {end}, 1, 2)",
        [],
        "x",
    ),
    "timestamp_ntz": (
        "id BIGINT, x INT, t TIMESTAMP_NTZ, z TIMESTAMP, d DATE",
        "",
        "SELECT id, hash(id), timestamp_ntz '1000-01-01 00:00:00' + make_dt_interval(int(id)), "
        "timestamp '1000-01-01 00:00:00' + make_dt_interval(int(id)), date_add('1000-01-01', "
        "int(id)) FROM range({start}, {end}, 1, 2)",
        [],
        "t",
    ),
    "v2 checkpoint": (
        COLUMNS,
        properties(checkpointPolicy="v2", checkpointInterval="1"),
        ROWS,
        [],
        "x",
    ),
    "change data feed": (
        COLUMNS,
        properties(enableChangeDataFeed="true"),
        ROWS,
        ["UPDATE {t} SET x = 1 WHERE id % 3 = 0"],
        "x",
    ),
}

# What a reader can't read before OPTIMIZE either. Any change in this makes a test fail.
UNREADABLE = {
    ("other partitions", "deltalake"): "ArrowInvalid",
    ("deletion vectors", "deltalake"): "DeltaProtocolError",
    ("widened", "deltalake"): "DeltaProtocolError",
    ("variant", "kernel"): "UnsupportedOperationException",
    ("v2 checkpoint", "deltalake"): "DeltaProtocolError",
}


@pytest.fixture(scope="module")
def duck():
    folder = Path(duckdb_extension_delta.__file__).parent / "extensions"
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        extension = folder / f"v{duckdb.__version__}" / "delta.duckdb_extension"
        connection.execute(f"LOAD '{extension}'")
        yield connection


@pytest.fixture
def readers(spark, duck):
    return {
        "duckdb": lambda path: duck.execute(f"SELECT * FROM delta_scan('{path}')").fetchall(),
        "deltalake": lambda path: [
            tuple(r.values()) for r in DeltaTable(path).to_pyarrow_table().to_pylist()
        ],
        "kernel": lambda path: kernel_reader.read(spark, path),
        "spark": lambda path: [tuple(r) for r in spark.read.format("delta").load(path).collect()],
    }


def outcome(read, path):
    """All rows, sorted, or the name of the exception."""
    try:
        return sorted(map(repr, read(path)))
    except Exception as error:
        return type(error).__name__


ALWAYS = {
    "other partitions",
    "deletion vectors",
    "mapped by name",
}


@pytest.mark.parametrize("kind", cases(KINDS, ALWAYS))
def test_every_reader_reads_the_same_as_before(spark, path, readers, kind):
    columns, clauses, rows, after, order = KINDS[kind]
    table = f"delta.`{path}`"
    # Old dates are stored in the form that every reader expects, even if Spark is configured
    # otherwise.
    if kind == "timestamp_ntz":
        spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta {clauses}")
    spark.sql(f"INSERT INTO {table} {rows.format(start=0, end=40)}")
    spark.sql(f"INSERT INTO {table} {rows.format(start=40, end=60)}")
    for statement in after:
        spark.sql(statement.format(t=table))
    before = {name: outcome(read, path) for name, read in readers.items()}
    version = last_version(path)
    if kind == "timestamp_ntz":
        spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY")
    spark.sql(f"OPTIMIZE {table} " + (f"ZORDER BY ({order})" if order else "FULL"))
    assert last_version(path) > version
    unreadable = {name: rows for name, rows in before.items() if isinstance(rows, str)}
    expected = {
        name: error for (table_kind, name), error in UNREADABLE.items() if table_kind == kind
    }
    assert unreadable == expected
    for name, read in readers.items():
        if name not in unreadable:
            assert len(before[name]) >= 40
            assert outcome(read, path) == before[name], name
