"""The command ``zcube demo``."""

from __future__ import annotations

import argparse

from zcube.cli.arguments import Commands


def add(commands: Commands) -> None:
    """Add the command."""
    demo = commands.add(
        "demo",
        "compare ZCube's OPTIMIZE with Delta's on TPC-H data",
        "zcube demo --scale 0.1 --output /tmp/zcube-demo",
    )
    demo.add_argument("--output", default="demo-output", help="folder for data and pictures")
    demo.add_argument("--scale", type=float, default=1.0, help="TPC-H scale factor (default 1)")
    demo.add_argument("--json", action="store_true", help="print the result as JSON")
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from zcube.demo.run import run

    return run(options.output, options.scale, as_json=options.json)
