"""The tags by which a file says how it was clustered."""

CUBE = "ZCUBE_ID"
COLUMNS = "ZCUBE_ZORDER_BY"
CURVE = "ZCUBE_ZORDER_CURVE"
PHYSICAL_COLUMNS = "ZCUBE_PHYSICAL_COLUMNS"
