"""The Spark process: its start, its jar, its log of events, its Java side."""
