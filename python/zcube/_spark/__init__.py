"""The Spark process: its launch, its jar, its event log, its JVM."""
