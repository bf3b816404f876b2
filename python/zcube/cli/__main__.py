"""``python -m zcube.cli``."""

import sys

from zcube.cli import main

sys.exit(main())
