"""Starts a session once, so that Spark's packages are downloaded before several processes need them.

Ivy's cache supports only one writer: two sessions that fill it concurrently corrupt it.
"""

import zcube
from pyspark.sql import SparkSession

if __name__ == "__main__":
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    zcube.configure(builder).getOrCreate().stop()
