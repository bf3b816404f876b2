"""The tests' measuring tools, none of which is ZCube's own code."""
