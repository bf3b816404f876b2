"""Runs the demo from beginning to end."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from zcube.demo import comparison, data, event_log
from zcube.demo.file_boxes import file_boxes
from zcube.demo.picture import draw
from zcube.demo.queries import example_box, example_queries, read_by
from zcube.demo.spark_session import spark_session
from zcube.errors import ZCubeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TARGET_BYTES = 8 << 20
_SMALLEST_TARGET_BYTES = 64 << 10


def _warm_up(spark: SparkSession, log: event_log.EventLog, source: Path, folder: Path) -> None:
    """Run both commands once on little data, so that neither is timed while Java compiles."""
    for by_zcube in (True, False):
        table = folder / "lineitem-warm-up"
        shutil.rmtree(table, ignore_errors=True)
        small = spark.read.parquet(str(source)).limit(200_000).repartition(4)
        small.write.format("delta").save(str(table))
        comparison.optimize(spark, log, table, by_zcube=by_zcube, rows=1, queries=[])
        shutil.rmtree(table)


def run(output: str, scale: float, *, as_json: bool = False) -> int:
    """Make the data, cluster it with ZCube and with Delta, and show the difference.

    Args:
        output: a folder for data, tables and the picture; it is kept, so a second run is faster.
        scale: TPC-H scale factor; 1 is 6 million rows.
        as_json: print the results as JSON to standard output, and everything else to standard
            error.

    Returns:
        0.

    Raises:
        ZCubeError: a package of ``zcube[demo]`` is missing, the scale is out of range, or a table
            does not hold the same rows afterwards.
    """
    try:
        import matplotlib  # noqa: F401
        from rich.console import Console

        from zcube.demo import report
    except ImportError as error:
        raise ZCubeError(f"The demo needs {error.name}: pip install 'zcube[demo]'.") from error
    if not 0.01 <= scale <= 100:
        raise ZCubeError(f"scale must be 0.01 to 100, not {scale:g}.")
    folder = Path(output).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, stderr=as_json)
    zcube_table, delta_table = folder / "lineitem-zcube", folder / "lineitem-delta"
    queries = example_queries(scale)

    console.print(f"[bold]1[/] TPC-H lineitem, scale factor {scale:g}")
    source = data.lineitem(folder, scale)
    settings = event_log.settings(folder / "events") | {
        "spark.databricks.delta.optimize.maxFileSize": str(
            max(_SMALLEST_TARGET_BYTES, int(_TARGET_BYTES * scale))
        )
    }
    console.print("[bold]2[/] Starting Spark; the first time it downloads Delta's jar")
    with spark_session(folder, settings) as spark:
        log = event_log.EventLog(spark, folder / "events")
        console.print(f"[bold]3[/] A Delta table of {data.FILES} files, and a copy of it")
        data.write_table(spark, source, zcube_table)
        shutil.rmtree(delta_table, ignore_errors=True)
        shutil.copytree(zcube_table, delta_table)
        original = comparison.multiset(spark, zcube_table)
        before_boxes = file_boxes(spark, zcube_table)
        before = [read_by(spark, zcube_table, query) for query in queries]
        _warm_up(spark, log, source, folder)
        # Java gets faster as it runs, so ZCube goes first: the remaining effect favours Delta.
        console.print("[bold]4[/] OPTIMIZE … ZORDER BY (l_shipdate, l_partkey) by ZCube")
        zcube = comparison.optimize(
            spark, log, zcube_table, by_zcube=True, rows=original.rows, queries=queries
        )
        console.print("[bold]5[/] The same by Delta on the copy\n")
        delta = comparison.optimize(
            spark, log, delta_table, by_zcube=False, rows=original.rows, queries=queries
        )
        after = [comparison.multiset(spark, table) for table in (zcube_table, delta_table)]
        after_boxes = [file_boxes(spark, table) for table in (zcube_table, delta_table)]

    picture = folder / "file-boxes.png"
    draw(
        [
            ("before", before_boxes),
            ("after ZCube", after_boxes[0]),
            ("after Delta", after_boxes[1]),
        ],
        example_box(scale),
        picture,
    )
    report.print_queries(console, queries, before, zcube, delta)
    report.print_commands(console, zcube, delta)
    report.print_rows(console, {"before": original, "ZCube": after[0], "Delta": after[1]})
    if after != [original, original]:
        raise ZCubeError("The rows differ. Please report this, with the folder's Delta logs.")
    console.print(f"Picture of the files' boxes: {picture}", soft_wrap=True)
    report.print_next_steps(console, zcube_table)
    if as_json:
        print(json.dumps(report.as_dict(queries, before, zcube, delta) | {"picture": str(picture)}))
    return 0
