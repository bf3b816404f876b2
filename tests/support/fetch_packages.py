"""Starts a session once, so that Spark's packages are there before several processes want them.

Ivy's cache bears one writer only: two sessions that fill an empty one at the same time spoil it.
"""

import zcube
from pyspark.sql import SparkSession

if __name__ == "__main__":
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    zcube.configure(builder).getOrCreate().stop()
