"""The dbt package in examples/dbt: dbt itself runs on a local session with ZCube."""

import json
import shutil
import subprocess

import pytest
from zcube._spark import jar, versions

from tests.support import tools

pytestmark = [pytest.mark.slow, tools.needed]
EXAMPLE = tools.ROOT / "examples/dbt"

# One process for all commands, and so one JVM: dbt's session stays.
STEPS = """
import json, sys
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

def state(table):
    spark = SparkSession.builder.getOrCreate()
    detail = spark.sql(f"DESCRIBE DETAIL {table}").first()
    history = spark.sql(f"DESCRIBE HISTORY {table}").collect()
    return {
        "columns": detail.clusteringColumns, "files": detail.numFiles, "rows": spark.table(table).count(),
        "history": [[row.operation, row.operationParameters] for row in reversed(history)],
    }

results = []
for step in json.load(sys.stdin):
    messages = []
    if "sql" in step:
        SparkSession.builder.getOrCreate().sql(step["sql"])
        continue
    runner = dbtRunner(callbacks=[lambda event: messages.append(event.info.msg)])
    result = runner.invoke(step["dbt"])
    table = step.get("table", "shop.orders")
    after = None if step["dbt"][0] == "deps" else state(table)
    results.append({"done": result.success, "messages": "\\n".join(messages), **(after or {})})
json.dump(results, open(sys.argv[1], "w"))
"""

MODELS = {
    # Its clustering columns are another's tomorrow.
    "changing.sql": """{{ config(
        materialized='incremental', file_format='delta', zcube_cluster_by=var('by'),
        tblproperties={'delta.columnMapping.mode': 'name'},
        post_hook="{{ zcube.zcube_optimize(this) }}") }}
    select id, id as `a.b`, id as `x; drop)`, id as plain from range(100)""",
    "parquet.sql": "{{ config(file_format='parquet', materialized='table', zcube_cluster_by='id') }}"
    "select id from range(10)",
    "meta.sql": "{{ config(materialized='table', file_format='delta', meta={'zcube_cluster_by': 'id'}) }}"
    "select id from range(10)",
    # dbt-spark's own clause of buckets is still there.
    "buckets.sql": "{{ config(file_format='parquet', materialized='table', clustered_by='id', buckets=2) }}"
    "select id from range(10)",
}
# The folder of the project takes the place of HERE.
ODD = "delta.`HERE/it's; DROP TABLE x`"


def run(model, **variables):
    return ["run", "--select", model, "--vars", json.dumps({"by": ["plain"], **variables})]


def operation(**arguments):
    variables = json.dumps({"by": ["plain"]})
    return ["run-operation", "zcube_optimize", "--args", json.dumps(arguments), "--vars", variables]


STEPS_TO_DO = {
    "deps": {"dbt": ["deps"]},
    "created": {"dbt": run("orders")},
    "appended": {"dbt": run("orders", first=20000, last=30000)},
    "by hand": {"dbt": operation(relation="orders", full=True, curve="hilbert")},
    "weights": {
        "dbt": operation(
            relation="shop.orders", full=True, curve="kdtree", weights={"day": 3},
            workload=[{"predicate": "day = '2026-01-05'", "weight": 2}], where=r"day > '1999-12-31' AND 'it\'s' != 'x'",
        )
    },
    "dry run": {"dbt": operation(relation="orders", full=True, curve="linear", dry_run=True)},
    "unknown option": {"dbt": operation(relation="orders", max_byte="10g")},
    "unknown curve": {"dbt": operation(relation="orders", curve="x') DRY RUN --")},
    "hostile predicate": {"dbt": operation(relation="orders", where="day > '2026-01-01') DRY RUN --")},
    "hostile column": {"dbt": operation(relation="orders", zorder_by=["day`) DRY RUN --"])},
    "text for a switch": {"dbt": operation(relation="orders", full="false")},
    "no name": {"dbt": operation(relation="shop..orders")},
    "unclustered": {"dbt": run("changing", by=[]), "table": "shop.changing"},
    "declared later": {
        "dbt": run("changing", by=["plain", "`a.b`"]), "table": "shop.changing"
    },
    "changed": {"dbt": run("changing", by=["x; drop)", "plain"]), "table": "shop.changing"},
    "the same": {"dbt": run("changing", by=["x; drop)", "PLAIN"]), "table": "shop.changing"},
    "rebuilt": {
        "dbt": [*run("changing", by="x; drop)"), "--full-refresh"], "table": "shop.changing"
    },
    "meta": {"dbt": run("meta"), "table": "shop.meta"},
    "parquet": {"dbt": run("parquet")},
    "buckets": {"dbt": run("buckets")},
    "set": {"sql": "SET spark.sql.parser.escapedStringLiterals = true"},
    "verbatim": {"dbt": operation(relation="orders", where="day > '2026-01-01'")},
    "unset": {"sql": "SET spark.sql.parser.escapedStringLiterals = false"},
    "odd table": {"sql": f"CREATE TABLE {ODD} USING delta AS SELECT id, id `y``z` FROM range(0, 100, 1, 4)"},
    "odd name": {"dbt": operation(relation=ODD, zorder_by=["id", "y`z"]), "table": ODD},
}  # fmt: skip


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """What became of each step."""
    folder = tmp_path_factory.mktemp("dbt")
    shutil.copytree(EXAMPLE, folder / "dbt")
    project = folder / "dbt/shop"
    for name, text in MODELS.items():
        (project / "models" / name).write_text(text)
    # Settings for small tables, in the profile's last block.
    with (project / "profiles.yml").open("a") as profile:
        for setting in (
            "spark.ui.enabled: 'false'", "spark.ui.showConsoleProgress: 'false'",
            "spark.driver.host: 127.0.0.1", "spark.driver.memory: 1500m",
            "spark.sql.shuffle.partitions: '4'", "spark.databricks.delta.snapshotPartitions: '2'",
            "spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1 -XX:+UseParallelGC",
            f"spark.sql.warehouse.dir: {project}/warehouse",
        ):  # fmt: skip
            profile.write(f"        {setting}\n")
    answer = folder / "results.json"
    done = subprocess.run(
        [tools.python("dbt"), "-c", STEPS, str(answer)],
        input=json.dumps(list(STEPS_TO_DO.values())).replace("HERE", str(project)),
        capture_output=True, text=True, timeout=900, cwd=project,
        env=tools.environment(ZCUBE_JAR=str(jar.jar_path(versions.spark_line()))),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    names = [name for name, step in STEPS_TO_DO.items() if "dbt" in step]
    return dict(zip(names, json.loads(answer.read_text()), strict=True))


def operations(step):
    return [name for name, _ in step["history"]]


def test_a_model_is_created_with_its_columns_and_clustered(steps):
    created = steps["created"]
    assert created["done"], created["messages"]
    assert created["columns"] == ["day", "customer"]
    # The columns came with the table itself, not by ALTER TABLE.
    (first, parameters), (second, _) = created["history"]
    assert (first, second) == ("CREATE OR REPLACE TABLE AS SELECT", "OPTIMIZE")
    assert json.loads(parameters["clusterBy"]) == ["day", "customer"]
    assert (created["files"], created["rows"]) == (1, 20000)
    assert "zcube: `shop`.`orders`: 8 files rewritten into 1" in created["messages"]


def test_an_incremental_run_rewrites_what_is_new(steps):
    appended = steps["appended"]
    assert operations(appended)[2:] == ["WRITE", "OPTIMIZE"]
    assert json.loads(appended["history"][3][1]["reasons"]) == {"fresh": 8}
    assert appended["rows"] == 30000


def test_the_macro_takes_all_kinds_of_options(steps):
    by_hand = steps["by hand"]
    assert by_hand["done"], by_hand["messages"]
    assert by_hand["history"][-1][1]["isFull"] == "true"
    weights = steps["weights"]
    assert weights["done"], weights["messages"]
    assert len(weights["history"]) == len(by_hand["history"]) + 1
    assert "files rewritten into 1" in weights["messages"]


def test_a_dry_run_writes_nothing(steps):
    dry = steps["dry run"]
    assert dry["done"], dry["messages"]
    assert dry["history"] == steps["weights"]["history"]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("unknown option", "takes no keyword argument 'max_byte'"),
        ("unknown curve", "x') DRY RUN --"),
        ("hostile predicate", "PARSE_SYNTAX_ERROR"),
        ("hostile column", "day`) DRY RUN --"),
        ("text for a switch", "full is true or false, not false"),
        ("no name", "shop..orders"),
        ("verbatim", "With spark.sql.parser.escapedStringLiterals zcube has no literal for day >"),
        ("parquet", "zcube_cluster_by needs a Delta table"),
    ],
)
def test_wrong_options_are_rejected_and_change_nothing(steps, step, said):
    assert not steps[step]["done"]
    assert said in steps[step]["messages"]
    # Nothing was done to the table.
    assert steps[step]["history"] == steps["weights"]["history"]


def test_columns_may_change(steps):
    assert steps["unclustered"]["columns"] == []
    for step, columns in {
        "declared later": ["plain", "`a.b`"],
        "changed": ["`x; drop)`", "plain"],
        "the same": ["`x; drop)`", "plain"],
        "rebuilt": ["`x; drop)`"],
    }.items():
        assert steps[step]["done"], steps[step]["messages"]
        assert steps[step]["columns"] == columns
    before, after = operations(steps["changed"]), operations(steps["the same"])
    assert "CLUSTER BY" in before[-2:]
    assert "CLUSTER BY" not in after[len(before) :]
    assert steps["rebuilt"]["rows"] == 100


def test_columns_may_stand_under_meta(steps):
    assert steps["meta"]["columns"] == ["id"], steps["meta"]["messages"]


def test_other_models_are_left_alone(steps):
    assert steps["buckets"]["done"], steps["buckets"]["messages"]


def test_any_name_is_quoted(steps):
    odd = steps["odd name"]
    assert odd["done"], odd["messages"]
    assert json.loads(odd["history"][-1][1]["zOrderBy"]) == ["id", "`y``z`"]
    assert (odd["files"], odd["rows"]) == (1, 100)
