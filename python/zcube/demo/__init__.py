"""``zcube demo``: the main job on TPC-H data, beside Delta's own OPTIMIZE."""
