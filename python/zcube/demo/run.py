"""What ``make demo`` shows, step by step."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from zcube.demo import data, picture, queries, runs
from zcube.errors import ZCubeError
from zcube.session import configure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TARGET_BYTES = 8 << 20
_INPUT_FILES = 32


def run(output: str, scale: float) -> int:
    """Run the demo in a folder; return the exit code.

    Raises:
        ZCubeError: the demo's extra dependencies are missing, or rows got lost.
    """
    try:
        from zcube.demo import report
    except ImportError:
        raise ZCubeError("The demo needs more packages: pip install 'zcube[demo]'.") from None
    say = report.console.print
    folder = Path(output).resolve()
    folder.mkdir(parents=True, exist_ok=True)

    say(
        f"[bold]1[/] TPC-H lineitem, scale factor {scale:g}, as a Delta table of {_INPUT_FILES} files"
    )
    source = data.lineitem(folder, scale)
    spark = _session(folder)
    try:
        ours, theirs = folder / "zcube", folder / "delta"
        _write(spark, source, ours, theirs)
        before, sum_before = queries.readings(spark, ours), _multiset(spark, ours)
        boxes_before = picture.boxes(ours)

        say("[bold]2[/] OPTIMIZE … ZORDER BY (l_shipdate, l_partkey), by ZCube and by Delta")
        # Neither shall pay for what the JVM compiles the first time.
        _warm_up(spark, folder, source)
        costs = {
            "ZCube": runs.optimize(spark, ours, by_zcube=True),
            "Delta": runs.optimize(spark, theirs, by_zcube=False),
        }
        report.show_runs(costs)

        say("[bold]3[/] Files and bytes that queries must read, by the log's statistics")
        report.show_readings(
            {
                "before": before,
                "after ZCube": queries.readings(spark, ours),
                "after Delta": queries.readings(spark, theirs),
            }
        )

        say("[bold]4[/] The same rows: number of rows and sum of their 64-bit hashes")
        sums = {
            "before": sum_before,
            "ZCube": _multiset(spark, ours),
            "Delta": _multiset(spark, theirs),
        }
        for name, value in sums.items():
            say(f"  {name:8} {value[0]:,} rows  {value[1]}")
        if len(set(sums.values())) != 1:
            raise ZCubeError("The rows differ: please report this.")

        target = folder / "files.png"
        panels = {"before": boxes_before, "after ZCube": picture.boxes(ours)}
        picture.draw(panels | {"after Delta": picture.boxes(theirs)}, target)
        say(f"[bold]5[/] The files' bounding boxes: {target}")
    finally:
        spark.stop()
    say("\nTry next, in .venv/bin/python:\n")
    say("  import zcube; from pyspark.sql import SparkSession", markup=False)
    say("  spark = zcube.configure(SparkSession.builder).getOrCreate()", markup=False)
    say(
        f"  print(zcube.ClusteredTable.for_path(spark, {str(ours)!r})"
        '.optimize(zorder_by=["l_shipdate", "l_partkey"], curve="hilbert"))',
        markup=False,
        soft_wrap=True,
    )
    return 0


def _session(folder: Path) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .appName("zcube demo")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.databricks.delta.optimize.maxFileSize", str(_TARGET_BYTES))
    )
    spark = configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _write(spark: SparkSession, source: Path, ours: Path, theirs: Path) -> None:
    for table in (ours, theirs):
        shutil.rmtree(table, ignore_errors=True)
    rows = spark.read.parquet(str(source)).repartition(_INPUT_FILES)
    rows.write.format("delta").save(str(ours))
    shutil.copytree(ours, theirs)


def _warm_up(spark: SparkSession, folder: Path, source: Path) -> None:
    table = folder / "warm-up"
    for by_zcube in (True, False):
        shutil.rmtree(table, ignore_errors=True)
        rows = spark.read.parquet(str(source)).limit(300_000).repartition(4)
        rows.write.format("delta").save(str(table))
        runs.optimize(spark, table, by_zcube=by_zcube)
    shutil.rmtree(table)


def _multiset(spark: SparkSession, table: Path) -> tuple[int, str]:
    rows = spark.read.format("delta").load(str(table))
    total = rows.selectExpr("count(*)", "sum(cast(xxhash64(*) AS DECIMAL(38, 0)))").collect()[0]
    return total[0], str(total[1])
