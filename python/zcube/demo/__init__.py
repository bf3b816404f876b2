"""The demo: ZCube and Delta on the same TPC-H table, side by side."""
