"""What lets the tests' many JVMs start quickly: an archive of loaded classes, and a quick compiler.

A JVM that starts Spark spends most of its first half minute on loading and checking classes. Java's
class data sharing (JEP 350) keeps them in a file that later JVMs map into memory. A JVM whose class
path or version differs from the one that made the file goes without it, so nothing depends on it.

``python -m tests.support.class_archive`` makes it, which takes as much CPU as ten starts. It fetches
Spark's packages on the way, as ``fetch_packages`` does.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from zcube._spark import versions

# The driver's options of every `spark-submit`, PySpark's own included.
VARIABLE = "SPARK_SUBMIT_OPTS"
# These JVMs end before code compiled by the second compiler has saved what it cost. Their classes would
# fill the metaspace that a JVM begins with several times, with a full collection each time.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -XX:MetaspaceSize=256m"
# Otherwise a JVM that can't use the file reports it on standard output, which programs parse.
QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
STATEMENTS = """
CREATE TABLE {t} (id BIGINT, x INT, y STRING) USING delta CLUSTER BY (id, x)
INSERT INTO {t} SELECT id, CAST(id % 7 AS INT), CAST(id AS STRING) FROM range(0, 1000, 1, 2)
UPDATE {t} SET x = x + 1 WHERE id % 3 = 0
DELETE FROM {t} WHERE id % 5 = 0
MERGE INTO {t} t USING (SELECT id FROM range(990, 1010)) s ON t.id = s.id WHEN MATCHED THEN DELETE
OPTIMIZE {t}
DESCRIBE HISTORY {t}
SELECT x, count(DISTINCT y) FROM {t} GROUP BY x ORDER BY x
"""


def path() -> Path:
    """The archive, which may be missing."""
    folder = Path(__file__).resolve().parents[2] / ".build"
    return folder / f"classes-{versions.spark_line()}.jsa"


def archived() -> str:
    """A JVM's options to use the archive, with PySpark's class path; none where it is missing."""
    return f"-XX:SharedArchiveFile={path()} {QUIET}" if path().is_file() else ""


def use() -> None:
    """Let the JVMs that this process and its children start use both, the archive where there is one."""
    given = os.environ.get(VARIABLE, "")
    if QUICK not in given:
        given = f"{given} {QUICK}".strip()
    if "SharedArchiveFile" not in given:
        given = f"{given} {archived()}".strip()
    os.environ[VARIABLE] = given


def make() -> None:
    """Run a little of everything in a JVM that writes the archive as it ends."""
    import zcube
    from pyspark.sql import SparkSession

    path().parent.mkdir(exist_ok=True)
    path().unlink(missing_ok=True)
    os.environ[VARIABLE] = f"-XX:ArchiveClassesAtExit={path()} {QUIET}"
    builder = SparkSession.builder.master("local[2]")
    for key in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(key, "false")
    with tempfile.TemporaryDirectory() as folder:
        session = zcube.configure(builder.config("spark.sql.warehouse.dir", folder)).getOrCreate()
        table = f"delta.`{folder}/table`"
        session.conf.set("spark.sql.shuffle.partitions", "2")
        session.conf.set("spark.databricks.delta.snapshotPartitions", "2")
        for statement in STATEMENTS.strip().splitlines():
            session.sql(statement.format(t=table)).collect()
        session.createDataFrame([(1, 2, "3")], "id BIGINT, x INT, y STRING").collect()
        process = session.sparkContext._gateway.proc
        session.stop()
        # The archive is written while the JVM ends.
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    make()
