"""Commands, in this process or in one of their own, and servers."""

import os
import socket
import sys
import time
from contextlib import closing

from zcube import cli

from tests.support.standalone_cluster import SPARK


def run_here(capsys, *arguments):
    code = cli.main(arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def bare_python(folder):
    """Variables for a Python that doesn't see site-packages, and so not our package: -S, PYTHONPATH."""
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    python.chmod(0o755)
    paths = [SPARK / "python/lib/pyspark.zip", *(SPARK / "python/lib").glob("py4j-*.zip")]
    return {
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }


def wait_for_port(port, server, log, seconds=120):
    for _ in range(seconds * 4):
        assert server.poll() is None, log.read_text()[-3000:]
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.25)
    raise AssertionError(log.read_text()[-3000:])
