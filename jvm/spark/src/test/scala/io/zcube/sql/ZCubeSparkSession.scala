package io.zcube.sql

import org.apache.spark.sql.SparkSession
import org.scalatest.{BeforeAndAfterAll, Suite}

/** A local session with the extension, for suites that use SQL. */
trait ZCubeSparkSession extends BeforeAndAfterAll { self: Suite =>

  /** Settings of the suite. */
  protected def settings: Map[String, String] = Map.empty

  protected lazy val spark: SparkSession = {
    val session = newSession()
    // Keeps the tests' output readable: Spark logs lines for each task.
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  private def newSession(): SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.sql.extensions", classOf[ZCubeSparkSessionExtension].getName)
    .config("spark.ui.enabled", "false")
    // A stack trace for each function of a DataFrame, and ScalaTest's stacks are deep.
    .config("spark.sql.dataFrameQueryContext.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config(settings)
    .getOrCreate()

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()
}
