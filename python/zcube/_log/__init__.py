"""A table's log, by two readers: Spark, and the deltalake library without it."""
