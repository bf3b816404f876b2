package io.zcube.sql

import org.apache.spark.sql.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A local session with the extension on, for the suites that speak SQL. */
trait ZCubeSparkSession extends BeforeAndAfterAll { self: Suite =>
  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.sql.extensions", classOf[ZCubeSparkSessionExtension].getName)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()
}
