"""What the tests measure with: none of it is ZCube's own code."""
