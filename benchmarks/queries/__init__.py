"""What queries gain: TPC-H and queries over a web log, run by Spark on each layout."""
