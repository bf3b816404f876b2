"""A driver on a cluster that runs SQL for a test: ``python -m tests.support.cluster_driver MASTER``.

Further arguments are settings, ``key=value``. It reads statements from its input, one per line as a
JSON string, and answers each with a line ``ANSWER`` and JSON: null, or the error. The first line
has the application's id and the address of the Spark UI.
"""

import json
import sys

import zcube
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.support import jars

if __name__ == "__main__":
    # Without Ivy: otherwise each jar would be sent to every executor, including new ones.
    builder = SparkSession.builder.master(sys.argv[1]).config(
        "spark.jars", ",".join([zcube.versions()["jar"], *jars.of_delta()])
    )
    for setting in sys.argv[2:]:
        builder = builder.config(*setting.split("=", 1))
    spark = zcube.configure(builder).getOrCreate()
    context = spark.sparkContext
    print("ANSWER", json.dumps([context.applicationId, context.uiWebUrl]), flush=True)
    for line in sys.stdin:
        problem = None
        try:
            spark.sql(json.loads(line)).collect()
        except PySparkException as error:
            problem = str(error)
        print("ANSWER", json.dumps(problem), flush=True)
    spark.stop()
