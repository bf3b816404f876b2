"""``zcube demo``: the main job on TPC-H data, compared with Delta's own OPTIMIZE."""
