"""``zcube demo``: compares ZCube's OPTIMIZE with Delta's on TPC-H data."""
