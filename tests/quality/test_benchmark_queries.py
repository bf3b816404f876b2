"""The texts of benchmarks.queries, against DuckDB, which has TPC-H's queries itself."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import duckdb_extension_tpch
import pytest

from benchmarks.queries import tables
from benchmarks.queries.measure import run

SCALE = 0.01


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    cache = tmp_path_factory.mktemp("queries")
    return tables.clustered(cache, SCALE), tables.plain(cache, SCALE)


@pytest.fixture(scope="module")
def duck(data):
    clustered, plain = data
    with duckdb.connect() as connection:
        folder = Path(duckdb_extension_tpch.__file__).parent / "extensions"
        connection.load_extension(str(folder / f"v{duckdb.__version__}" / "tpch.duckdb_extension"))
        connection.execute("SET TimeZone = 'UTC'")
        for table in clustered:
            connection.execute(
                f"CREATE VIEW {table.name} AS SELECT * FROM read_parquet('{table.source}/*.parquet')"
            )
        for name, file in plain.items():
            connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{file}')")
        yield connection


def rounded(rows):
    """Rows as text, to the digits that both systems have."""

    def value(v):
        if isinstance(v, datetime):
            v = v.replace(tzinfo=None)  # both are in UTC, which only DuckDB says
        return f"{float(v):.4f}" if isinstance(v, (Decimal, float, int)) else str(v)

    return [tuple(value(v) for v in row) for row in rows]


def test_tpch_asks_what_duckdb_asks(duck, data):
    queries = tables.queries(data[0], SCALE)["TPC-H"]
    assert len(queries) == 22
    answers = []
    for number, query in enumerate(queries, 1):
        sql = query.sql
        if number == 11:
            # DuckDB's text has the fraction of scale factor 1.
            assert "* 0.0100000000" in sql
            sql = sql.replace("0.0100000000", "0.0001000000")
        found = rounded(duck.execute(sql).fetchall())
        expected = rounded(duck.execute(f"PRAGMA tpch({number})").fetchall())
        if number == 3:
            # DuckDB has the columns in another order.
            found, expected = list(map(sorted, found)), list(map(sorted, expected))
        assert found == expected, query.name
        answers.append(len(found))
    # At this scale factor hardly a query finds nothing, which any text would.
    assert answers.count(0) <= 2


@pytest.mark.long
def test_spark_answers_as_duckdb_does(spark, duck, data):
    clustered, plain = data
    for table in clustered:
        spark.read.parquet(str(table.source)).createOrReplaceTempView(table.name)
    for name, file in plain.items():
        spark.read.parquet(str(file)).createOrReplaceTempView(name)
    sets = tables.queries(clustered, SCALE)
    assert {name: len(queries) for name, queries in sets.items()} == {
        "TPC-H": 22,
        "selective on TPC-H": 20,
        "web log": 30,
    }
    for queries in sets.values():
        for query in queries:
            found = rounded(spark.sql(query.sql).collect())
            assert found == rounded(duck.execute(query.sql).fetchall()), query.name


@pytest.mark.long
def test_scans_are_counted_in_joins_and_subqueries(spark, path, tmp_path):
    # Four files of 25 rows; another table isn't counted.
    spark.range(0, 100, 1, 4).write.format("delta").save(path)
    spark.range(0, 100, 1, 4).write.parquet(str(tmp_path / "other"))
    spark.read.format("delta").load(path).createOrReplaceTempView("t")
    spark.read.parquet(str(tmp_path / "other")).createOrReplaceTempView("other")

    def scanned(sql):
        rows, took, read = run(spark, sql, {Path(path): "t"})
        assert set(took) == {"wall", "cpu"}
        sums = read.get("t", {"files": 0, "rows": 0})
        return rows[0][0], sums["files"], sums["rows"]

    assert scanned("SELECT count(id) FROM t WHERE id < 30") == (30, 2, 50)
    assert scanned("SELECT count(id) FROM other WHERE id < 30") == (30, 0, 0)
    joined = "SELECT count(*) FROM t JOIN other USING (id) WHERE t.id >= 60"
    assert scanned(joined) == (40, 2, 50)
    nested = "SELECT count(id) FROM t WHERE id < (SELECT max(id) FROM t WHERE id < 30)"
    # The subquery's value skips row groups, but no files.
    assert scanned(nested) == (29, 4 + 2, 50 + 50)
