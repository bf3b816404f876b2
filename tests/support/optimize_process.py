"""A separate driver that optimizes a table: ``python -m tests.support.optimize_process PATH``.

Further arguments are settings, ``key=value``; ``zorder=x,y`` names the columns of ZORDER BY.
"""

import sys

import zcube
from pyspark.sql import SparkSession

if __name__ == "__main__":
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    columns = None
    for setting in sys.argv[2:]:
        key, value = setting.split("=", 1)
        if key == "zorder":
            columns = value.split(",")
        else:
            builder = builder.config(key, value)
    spark = zcube.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print(zcube.ClusteredTable.for_path(spark, sys.argv[1]).optimize(zorder_by=columns))
    spark.stop()
