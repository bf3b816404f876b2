"""OPTIMIZE of a table with each feature of the Delta protocol; the oracle is Delta's OPTIMIZE of a copy.

The outcomes are in `tests/results/compatibility.jsonl`, from which `docs/compatibility.md` is made.
"""

import shutil

import pyarrow.parquet
import pytest
from delta.tables import DeltaTable, IdentityGenerator
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.support import compatibility
from tests.support.log_replay import actions, data_files_on_disk, last_version, live_files
from tests.support.matrix import cases

COLUMNS = "id BIGINT, x INT, s STRING"
ROWS = "SELECT id, hash(id), hex(id) FROM range({start}, {end}, 1, 2)"
UPDATE = "UPDATE {t} SET x = 1 WHERE id % 3 = 0"


def properties(*texts, **enabled):
    values = [*texts, *(f"'delta.{name}' = '{value}'" for name, value in enabled.items())]
    return f"TBLPROPERTIES ({', '.join(values)})"


# Columns that SQL can't declare in Delta 4.3.
BUILT = {
    "generated columns": {"dataType": "INT", "generatedAlwaysAs": "x % 10"},
    "identity columns": {"dataType": "BIGINT", "generatedAlwaysAs": IdentityGenerator()},
}


def table(clauses="", *after, columns=COLUMNS, rows=ROWS, order="x"):
    return columns, clauses, rows, after, order


def supported(feature):
    return properties(f"'delta.feature.{feature}' = 'supported'")


def mapped(mode, *texts, **enabled):
    return properties(f"'delta.columnMapping.mode' = '{mode}'", *texts, **enabled)


RENAMED = ("ALTER TABLE {t} RENAME COLUMN x TO y", UPDATE.replace("x =", "y ="))
SOME = "FROM range({start}, {end}, 1, 2)"
# Feature: columns, clauses, rows, statements between two inserts, order.
FEATURES = {
    "append-only tables": table(properties(appendOnly="true")),
    "NOT NULL": table(columns="id BIGINT NOT NULL, x INT NOT NULL, s STRING"),
    "CHECK constraints": table("", "ALTER TABLE {t} ADD CONSTRAINT c CHECK (id >= 0)"),
    "generated columns": table(rows=f"(id, x, s) {ROWS}", order="g, x"),
    "identity columns": table(rows=f"(id, x, s) {ROWS}", order="g, x"),
    "column defaults": table(
        supported("allowColumnDefaults"),
        "INSERT INTO {t} (id, s) SELECT id, 'late' FROM range(900, 950)",
        columns="id BIGINT, x INT DEFAULT 3, s STRING",
    ),
    "change data feed": table(properties(enableChangeDataFeed="true"), UPDATE),
    "column mapping by name": table(mapped("name"), *RENAMED, order="y"),
    "column mapping by id": table(mapped("id"), *RENAMED, order="y"),
    "deletion vectors": table(
        properties(enableDeletionVectors="true"), "DELETE FROM {t} WHERE id % 5 = 2"
    ),
    "row tracking": table(properties(enableRowTracking="true"), UPDATE),
    "timestamps without time zone": table(
        columns="id BIGINT, t TIMESTAMP_NTZ",
        rows=f"SELECT id, timestamp_ntz '1999-12-31' + make_dt_interval(int(id)) {SOME}",
        order="t",
    ),
    "type widening": table(
        properties(enableTypeWidening="true"),
        "ALTER TABLE {t} ALTER COLUMN x TYPE BIGINT",
    ),
    "variant": table(
        columns="id BIGINT, x INT, v VARIANT",
        rows=f"SELECT id, hash(id), parse_json(concat('[', id, ']')) {SOME}",
    ),
    "shredded variant": table(
        properties(enableVariantShredding="true"),
        columns="id BIGINT, x INT, v VARIANT",
        rows=f"SELECT id, hash(id), parse_json(concat('{{{{\"k\":', id, '}}}}')) {SOME}",
    ),
    "collations": table(columns="id BIGINT, x INT, s STRING COLLATE UNICODE_CI"),
    "collations, ordered by": table(
        columns="id BIGINT, x INT, s STRING COLLATE UNICODE_CI", order="s"
    ),
    "v2 checkpoints": table(properties(checkpointPolicy="v2", checkpointInterval="1"), UPDATE),
    "in-commit timestamps": table(properties(enableInCommitTimestamps="true"), UPDATE),
    "checkpoint protection": table(supported("checkpointProtection"), UPDATE),
    "VACUUM protocol check": table(supported("vacuumProtocolCheck"), UPDATE),
    "materialized partition columns": table(
        "PARTITIONED BY (p) " + supported("materializePartitionColumns"),
        columns="id BIGINT, x INT, p INT",
        rows=f"SELECT id, hash(id), int(id % 3) {SOME}",
    ),
    "liquid clustering": table("CLUSTER BY (x, s)", UPDATE, order=None),
    "partitions": table(
        "PARTITIONED BY (p)",
        UPDATE,
        columns="id BIGINT, x INT, p STRING",
        rows=f"SELECT id, hash(id), char(65 + id % 3) {SOME}",
    ),
    "IcebergCompatV1": table(mapped("name", enableIcebergCompatV1="true"), UPDATE),
    "IcebergCompatV2": table(mapped("name", enableIcebergCompatV2="true"), UPDATE),
    "IcebergCompatV2, partitioned": table(
        "PARTITIONED BY (p) " + mapped("name", enableIcebergCompatV2="true"),
        columns="id BIGINT, x INT, p INT",
        rows=f"SELECT id, hash(id), int(id % 3) {SOME}",
    ),
    "IcebergCompatV3": table(
        mapped("name", enableIcebergCompatV3="true", enableRowTracking="true"), UPDATE
    ),
    "UniForm, Iceberg": table(
        mapped(
            "name",
            "'delta.universalFormat.enabledFormats' = 'iceberg'",
            enableIcebergCompatV2="true",
        )
    ),
    "UniForm, Hudi": table(properties("'delta.universalFormat.enabledFormats' = 'hudi'")),
    "catalog-managed tables": table(supported("catalogManaged")),
}


def condition(error):
    """The error condition, or the Java class of an error that has none."""
    if isinstance(error, Py4JJavaError):
        return error.java_exception.getClass().getSimpleName()
    return error.getCondition() or type(error).__name__


def made(spark, path, feature):
    """Make the table; return the error condition if this Spark and Delta can't."""
    columns, clauses, rows, after, _ = FEATURES[feature]
    name = f"delta.`{path}`"
    try:
        if feature in BUILT:
            plain = spark.sql("SELECT 0L id, 0 x, '' s LIMIT 0").schema
            builder = DeltaTable.create(spark).location(path).addColumns(plain)
            builder.addColumn("g", **BUILT[feature]).execute()
        else:
            spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {clauses}")
        spark.sql(f"INSERT INTO {name} {rows.format(start=0, end=200)}")
        for statement in after:
            spark.sql(statement.format(t=name))
        spark.sql(f"INSERT INTO {name} {rows.format(start=200, end=300)}")
    except (PySparkException, Py4JJavaError) as error:
        return condition(error)
    return None


def rows(spark, path):
    return sorted(map(repr, spark.read.format("delta").load(path).collect()))


def optimized(spark, path, order):
    """Run OPTIMIZE; return the error condition, if any."""
    try:
        spark.sql(f"OPTIMIZE delta.`{path}` " + (f"ZORDER BY ({order})" if order else "FULL"))
    except (PySparkException, Py4JJavaError) as error:
        return condition(error)
    return None


def written(path):
    """What the last commit wrote: actions, fields of its files' entries, and the files' columns."""
    commit = actions(path, last_version(path))
    adds = [action["add"] for action in commit if "add" in action]
    schemas = {
        str(pyarrow.parquet.ParquetFile(f"{path}/{file.path}").schema_arrow.remove_metadata())
        for file in live_files(path)
    }
    return {
        "actions": {name for action in commit for name in action},
        "info": {
            key
            for a in commit
            for key, value in a.get("commitInfo", {}).items()
            if value is not None
        },
        "files": {key for add in adds for key, value in add.items() if value is not None}
        - {"tags"},
        "data change": {add["dataChange"] for add in adds},
        "schemas": schemas,
    }


def detail(spark, path):
    found = spark.sql(f"DESCRIBE DETAIL delta.`{path}`").first()
    return sorted(found.tableFeatures), found.properties, found.clusteringColumns


# Each changes what a rewrite must write, or its outcome; the others are variants, or are in
# test_kinds_of_tables, test_other_readers or test_zorder too.
ALWAYS = {
    "column mapping by name",
    "deletion vectors",
    "row tracking",
    "collations, ordered by",
    "in-commit timestamps",
    "IcebergCompatV2, partitioned",
    "catalog-managed tables",
}


@pytest.mark.parametrize("feature", cases(FEATURES, ALWAYS))
def test_optimize_works_or_is_rejected_as_deltas_is(spark, path, tmp_path, delta_only, feature):
    outcome = as_delta(spark, path, str(tmp_path / "twin"), delta_only, feature)
    compatibility.check(spark.version, feature, outcome)


def as_delta(spark, path, twin, delta_only, feature):
    """Compare the two OPTIMIZEs; return the outcome that the page shows."""
    order = FEATURES[feature][-1]
    if failed := made(spark, path, feature):
        with delta_only():
            assert made(spark, f"{path}-by-delta", feature) == failed
        return f"not in this version: {failed}"
    shutil.copytree(path, twin)
    before, detail_before, version = rows(spark, path), detail(spark, path), last_version(path)
    assert len(before) >= 240
    with delta_only():
        rejected = optimized(spark, twin, order)
    found = optimized(spark, path, order)
    assert found == rejected
    assert rows(spark, path) == before
    assert detail(spark, path) == detail_before
    if rejected:
        assert last_version(path) == version
        assert data_files_on_disk(path) == data_files_on_disk(twin)
        return f"rejected, as by Delta: {rejected}"
    assert last_version(path) == version + 1
    ours, deltas = written(path), written(twin)
    assert ours.pop("info") >= deltas.pop("info")
    assert ours == deltas
    return "works"
