"""Random sequences of everything that can happen to a table, against a plain list of its rows.

``make soak`` runs more of it: ``ZCUBE_MODEL_SEQUENCES`` sequences of ``ZCUBE_MODEL_STEPS`` steps each.
The file ``ZCUBE_MODEL_RESULT`` records each completed sequence with its seed, and recorded
sequences are not run again, so hours of work can be split.
"""

import json
import os
import random
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pytest
from pyspark.errors import PySparkException
from zcube import ClusteredTable, ZCubeError
from zcube._spark import versions

from tests.support import test_jar
from tests.support.kill import ROOT, kill_optimize
from tests.support.log_replay import actions, data_files_on_disk, last_version
from tests.support.matrix import NIGHT, cases

STEPS = int(os.environ.get("ZCUBE_MODEL_STEPS", "10" if NIGHT else "6"))
RESULT = Path(os.environ["ZCUBE_MODEL_RESULT"]) if "ZCUBE_MODEL_RESULT" in os.environ else None
KINDS = ("clustered", "clustered", "plain", "partitioned")
ASKED = os.environ.get("ZCUBE_MODEL_SEQUENCES")
SEEDS = range(int(ASKED or "4"))
SCHEMA = "id BIGINT, x INT, y INT, p INT, s STRING"


class Model:
    """A table, the rows that it must hold, and operations on both."""

    def __init__(self, spark, path, points, scratch, *, kind, seed):
        self.spark, self.path, self.points, self.scratch = spark, path, points, scratch
        self.kind, self.random = kind, random.Random(seed)
        self.table = ClusteredTable.for_path(spark, path)
        self.next_id, self.rows, self.done = 0, [], []
        self.columns, self.transactions, self.cached = ("x", "y"), 0, None
        # Every kind of table with both, in time.
        odd = (seed + seed // len(KINDS)) % 2 == 1
        clause = {"clustered": "CLUSTER BY (x, y)", "partitioned": "PARTITIONED BY (p)"}.get(
            kind, ""
        )
        spark.sql(
            f"CREATE TABLE {self.name} ({SCHEMA}) USING delta {clause} TBLPROPERTIES "
            f"('delta.enableDeletionVectors' = {str(not odd).lower()}, "
            f"'delta.autoOptimize.autoCompact' = {str(odd).lower()})"
        )
        self.versions = {0: []}
        self.added, self.orphans, self.replayed = set(), set(), 0

    @property
    def name(self):
        return f"delta.`{self.path}`"

    # Changes of rows: each to the table by SQL, and to the list by Python.

    def new_rows(self):
        count = self.random.choice([1, 30, 120])
        self.next_id += count
        return [
            (
                number,
                self.random.choice([None, 5, *range(0, 1000, 100)]) if number % 3 else number % 977,
                self.random.randrange(1000),
                number % 3,
                self.random.choice([None, "", "a" * 40, str(number)]),
            )
            for number in range(self.next_id - count, self.next_id)
        ]

    def append(self):
        rows = self.new_rows()
        self.writer(rows).mode("append").save(self.path)
        self.rows = self.rows + rows

    def overwrite(self):
        rows = self.new_rows()
        self.writer(rows).mode("overwrite").save(self.path)
        self.rows = rows

    def writer(self, rows):
        frame = self.spark.createDataFrame(rows, SCHEMA).coalesce(self.random.choice([1, 3]))
        writer = frame.write.format("delta")
        # ZCube's own way to write, where the table is clustered.
        if self.kind == "clustered" and self.random.random() < 0.5:
            return writer.clusterBy(*self.columns)
        return writer

    def replay(self):
        """A transactional write that is repeated."""
        self.transactions += 1
        mode = self.random.choice(["append", "append", "append", "overwrite"])
        for time in range(2):
            rows = self.new_rows()
            version = last_version(self.path)
            (
                self.writer(rows)
                .option("txnAppId", "model")
                .option("txnVersion", self.transactions)
                .mode(mode)
                .save(self.path)
            )
            if time == 0:
                self.rows = rows if mode == "overwrite" else self.rows + rows
            else:
                assert last_version(self.path) == version, (mode, self.done[-5:])

    def cache(self):
        """Cache or uncache a load of the table; while cached, every read may come from the cache."""
        if self.cached is None:
            self.cached = self.read().cache()
            self.cached.count()
        else:
            self.release()

    def release(self):
        if self.cached is not None:
            self.cached.unpersist()
            self.cached = None

    def predicate(self):
        remainder, low = self.random.randrange(7), self.random.randrange(900)
        return self.random.choice(
            [
                (f"id % 7 = {remainder}", lambda row: row[0] % 7 == remainder),
                (
                    f"y BETWEEN {low} AND {low + 100}",
                    lambda row: low <= row[2] <= low + 100,
                ),
                ("x IS NULL", lambda row: row[1] is None),
                (f"p = {remainder % 3}", lambda row: row[3] == remainder % 3),
            ]
        )

    def delete(self):
        text, holds = self.predicate()
        self.spark.sql(f"DELETE FROM {self.name} WHERE {text}")
        self.rows = [row for row in self.rows if not holds(row)]

    def update(self):
        text, holds = self.predicate()
        self.spark.sql(f"UPDATE {self.name} SET y = (y + 1) % 1000 WHERE {text}")
        self.rows = [
            (*row[:2], (row[2] + 1) % 1000, *row[3:]) if holds(row) else row for row in self.rows
        ]

    def merge(self):
        incoming = self.new_rows()
        known = self.random.sample(self.rows, min(5, len(self.rows)))
        incoming += [(row[0], 1, 1, row[3], "merged") for row in known]
        self.spark.createDataFrame(incoming, SCHEMA).createOrReplaceTempView("incoming")
        self.spark.sql(
            f"MERGE INTO {self.name} t USING incoming i ON t.id = i.id "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        new = {row[0]: row for row in incoming}
        self.rows = [row for row in self.rows if row[0] not in new] + incoming

    def restore(self):
        # Delta's own RESTORE leaves caches stale.
        self.release()
        version = self.random.choice(sorted(self.versions)[-6:])
        self.spark.sql(f"RESTORE TABLE {self.name} TO VERSION AS OF {version}")
        self.rows = list(self.versions[version])
        self.columns = tuple(self.table.clustering_columns)

    # Changes of the layout only.

    def alter(self):
        if self.kind == "clustered":
            columns = self.random.choice([("x",), ("y", "x"), ("s", "y"), ("x", "y")])
            self.table.cluster_by(*columns)
            self.columns = columns

    def options(self):
        chosen = {
            "full": self.random.random() < 0.2,
            "curve": self.random.choice([None, None, None, "zorder", "hilbert", "linear"]),
            "merge_policy": self.random.choice([None, None, "all", "leveled"]),
            "max_bytes": self.random.choice([None, None, None, "10k", 1]),
            "min_cube_size": self.random.choice([None, "8k"]),
            "max_file_size": self.random.choice([None, "4k"]),
        }
        job = self.random.choice(["16k", "10t"])
        self.spark.conf.set("spark.zcube.layout.maxJobBytes", job)
        if chosen["min_cube_size"]:
            chosen["target_cube_size"] = "16k"
        if self.kind != "clustered":
            chosen["zorder_by"] = self.random.choice([["x", "y"], ["x", "y"], ["y"]])
        return chosen

    def optimize(self):
        self.table.optimize(**self.options())

    def optimize_by_delta(self):
        self.spark.conf.set("spark.zcube.enabled", "false")
        zorder = "ZORDER BY (y)" if self.kind != "clustered" and self.random.random() < 0.5 else ""
        self.spark.sql(f"OPTIMIZE {self.name} {zorder}")
        self.spark.conf.unset("spark.zcube.enabled")

    def optimize_and_change(self):
        """A change between the writing and the commit of an OPTIMIZE."""
        chosen = self.options()
        with self.points.paused(lambda: self.table.optimize(**chosen)) as outcome:
            self.random.choice([self.append, self.delete, self.update, self.merge])()
        if outcome.error is not None:
            assert type(outcome.error).__name__.startswith("Concurrent"), outcome.error

    def lose_an_answer(self):
        """OPTIMIZE commits, but its commit is reported as failed."""
        chosen = self.options()
        with self.points.losing_an_answer(self.random.choice(["exists", "io"])):
            try:
                self.table.optimize(**chosen)
            except (PySparkException, ZCubeError):
                # Only the table's contents are checked; other tests check the error.
                self.done[-1] += " (error)"

    def kill(self):
        step = self.random.choice(["before-sampling", "writing", "before-commit", "after-commit"])
        zorder = [] if self.kind == "clustered" else ["zorder=x,y"]
        kill_optimize(self.path, self.scratch / f"kill-{len(self.done)}", step, *zorder)

    ACTIONS = (
        (append, 26), (overwrite, 2), (replay, 5), (cache, 3), (delete, 8), (update, 8), (merge, 8),
        (restore, 2), (alter, 4), (optimize, 25), (optimize_by_delta, 4), (optimize_and_change, 6),
        (lose_an_answer, 4), (kill, 1),
    )  # fmt: skip

    def step(self):
        actions, weights = zip(*self.ACTIONS, strict=True)
        self.take(self.random.choices(actions, weights)[0])

    def take(self, action):
        self.done.append(action.__name__)
        before = last_version(self.path)
        partial(action, self)()
        self.check(before)

    def check(self, before):
        version = last_version(self.path)
        found = Counter(map(tuple, self.read().collect()))
        assert found == Counter(self.rows), self.done[-5:]
        self.versions[version] = list(self.rows)
        if version > before and self.random.random() < 0.1:
            older = self.random.choice(sorted(self.versions))
            found = Counter(map(tuple, self.read(older).collect()))
            assert found == Counter(self.versions[older]), (older, self.done[-5:])

        self.check_files(version)

    def check_files(self, version):
        """An OPTIMIZE leaves no orphaned files; Delta leaves empty ones, and a kill may leave any."""
        for number in range(self.replayed, version + 1):
            commit = actions(self.path, number)
            self.added |= {unquote(a["add"]["path"]) for a in commit if "add" in a}
        self.replayed = version + 1
        orphans = data_files_on_disk(self.path) - self.added
        if self.done[-1] == "optimize":
            assert orphans <= self.orphans, self.done[-5:]
        self.orphans |= orphans

    def read(self, version=None):
        reader = self.spark.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return reader.load(self.path)


def left():
    """The sequences that are not in the results yet, by kind of table and seed."""
    done = set()
    if RESULT and RESULT.exists():
        lines = map(json.loads, RESULT.read_text(encoding="utf-8").splitlines())
        done = {line["seed"] for line in lines if line["asked"] == STEPS}
    return [(KINDS[seed % len(KINDS)], seed) for seed in SEEDS if seed not in done]


@pytest.mark.parametrize(("kind", "seed"), cases(left(), lambda case: ASKED or case[1] % 4 == 1))
def test_after_random_steps_the_table_holds_the_models_rows(
    spark, path, tmp_path, failure_points, kind, seed
):
    assert test_jar.settings(), test_jar.MISSING
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    # Small commits are enough to set it off.
    spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "6")
    model = Model(spark, path, failure_points, tmp_path, kind=kind, seed=seed)
    try:
        for _ in range(STEPS):
            model.step()
        # Adds rare operations that weren't drawn, except kills, which start a JVM: test_crashes has
        # them.
        for action in (Model.replay, Model.lose_an_answer, *([Model.kill] if RESULT else [])):
            if not any(done.startswith(action.__name__) for done in model.done):
                model.take(action)
    finally:
        model.release()
    if RESULT:
        take_down(model, seed)


def take_down(model, seed):
    """The operations, all of them correct."""
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    commit = subprocess.run(describe, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    result = {
        "kind": model.kind,
        "seed": seed,
        "steps": len(model.done),
        "asked": STEPS,
        "versions": last_version(model.path) + 1,
        "rows": len(model.rows),
        "spark": versions.spark_line(),
        "commit": commit,
        "actions": dict(sorted(Counter(model.done).items())),
    }
    with RESULT.open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")
