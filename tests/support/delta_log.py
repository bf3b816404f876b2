"""The contents of a table's log, read through Delta itself."""

import json
from dataclasses import dataclass

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class LoggedFile:
    path: str
    size: int
    rows: int | None
    low: dict
    high: dict
    nulls: dict
    partition: dict


def _snapshot(spark, path):
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, path)
    nothing = spark._jvm.scala.Option.empty()
    return log.update(False, nothing, nothing)


def files(spark, path):
    """The table's live files, in the order of their paths."""
    rows = DataFrame(_snapshot(spark, path).allFiles().toDF(), spark).collect()
    found = []
    for row in rows:
        stats = json.loads(row["stats"]) if row["stats"] else {}
        found.append(
            LoggedFile(
                row["path"],
                row["size"],
                stats.get("numRecords"),
                stats.get("minValues", {}),
                stats.get("maxValues", {}),
                stats.get("nullCount", {}),
                row["partitionValues"],
            )
        )
    return sorted(found, key=lambda file: file.path)


def boxes(spark, path):
    """Row count and bounding box of each file, without file names."""
    return sorted(
        json.dumps([f.rows, f.low, f.high, f.partition], sort_keys=True) for f in files(spark, path)
    )


def last_commit(spark, path):
    """The actions of the newest commit."""
    version = _snapshot(spark, path).version()
    text = spark.read.text(f"{path}/_delta_log/{version:020d}.json").collect()
    return [json.loads(row["value"]) for row in text]
