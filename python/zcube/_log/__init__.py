"""A table's log, read by Spark, or without Spark by the deltalake library."""
