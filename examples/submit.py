"""A job for spark-submit, with ZCube's jar and without its Python package.

spark-submit --jars zcube-spark_4.2_2.13-0.1.0.jar --packages io.delta:delta-spark_4.2_2.13:4.4.0 \
  --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension \
  --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
  examples/submit.py FOLDER
"""
