"""What ZCube's methods return: frozen values, independent of Spark and tables."""
