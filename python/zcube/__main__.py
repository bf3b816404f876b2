"""``python -m zcube``, for where the command ``zcube`` is not on the path."""

import sys

from zcube.cli import main

sys.exit(main())
