"""The command ``zcube quality``."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from zcube._log import unclustered
from zcube.cli import arguments, engine, output
from zcube.cli.arguments import Commands

if TYPE_CHECKING:
    from zcube._log.protocol import TableLog
    from zcube.results.quality import ClusteringQuality


def add(commands: Commands) -> None:
    """Add the command."""
    quality = commands.add_for_table(
        "quality",
        "measure how well a table is clustered, from the log alone",
        "zcube quality /data/events --by x,y --max-depth 4 --min-skipping 0.9",
    )
    arguments.list_columns(
        quality, "--by", "x,y (default: the table's own, or those with statistics)"
    )
    quality.add_argument("--where", help="predicate that selects files")
    quality.add_argument(
        "--max-depth",
        type=arguments.depth,
        metavar="N",
        help="exit with code 1 if the maximum depth is over this",
    )
    quality.add_argument(
        "--min-skipping",
        type=arguments.share,
        metavar="SHARE",
        help="exit with code 1 if the skipping effectiveness, 0 to 1, is under this",
    )
    engine.add(quality)
    quality.set_defaults(run=_quality)


def _quality(options: argparse.Namespace) -> int:
    bounds = (options.max_depth, options.min_skipping)

    def measure(log: TableLog) -> tuple[ClusteringQuality, bool]:
        # A bound on columns that weren't chosen would be meaningless.
        if any(bound is not None for bound in bounds):
            return log.quality(columns=options.by, where=options.where), True
        return unclustered.quality_by_any(log, options.by, options.where)

    quality, own = engine.read(options, measure)
    if not own:
        output.note(unclustered.NOTE)
    note = {} if own else {"note": unclustered.NOTE}
    output.show(json.dumps({**quality.to_dict(), **note}) if options.json else quality)
    violations = quality.violations(max_depth=options.max_depth, min_skipping=options.min_skipping)
    for violation in violations:
        output.note(violation)
    return 1 if violations else 0
