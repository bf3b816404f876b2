"""What ZCube's methods return: frozen values that know neither Spark nor a table."""
