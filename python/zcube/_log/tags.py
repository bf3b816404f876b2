"""The tags that record how a file was clustered."""

CUBE = "ZCUBE_ID"
COLUMNS = "ZCUBE_ZORDER_BY"
CURVE = "ZCUBE_ZORDER_CURVE"
PHYSICAL_COLUMNS = "ZCUBE_PHYSICAL_COLUMNS"
CLUSTERED_TIME = "ZCUBE_CLUSTERED_TIME"
"""When a file was clustered whose rows a MERGE has copied since, in milliseconds since 1970."""
