"""A driver of its own that optimizes a table: ``python -m tests.support.optimize_process PATH``."""

import sys

import zcube
from pyspark.sql import SparkSession

if __name__ == "__main__":
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for setting in sys.argv[2:]:
        builder = builder.config(*setting.split("=", 1))
    spark = zcube.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(zcube.ClusteredTable.for_path(spark, sys.argv[1]).optimize())
    spark.stop()
