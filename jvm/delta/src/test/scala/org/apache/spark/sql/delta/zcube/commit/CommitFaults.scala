package org.apache.spark.sql.delta.zcube.commit

import java.io.IOException
import java.nio.file.FileAlreadyExistsException

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, ThrowingLogStore}
import org.scalatest.Suite

import io.zcube.concurrent.Caught

/** A session whose log store fails when a test asks it to, and small tables to optimize there. */
trait CommitFaults extends DeltaSparkSession { self: Suite =>

  override protected def settings: Map[String, String] =
    Map("spark.delta.logStore.file.impl" -> classOf[ThrowingLogStore].getName)

  protected def table(name: String, partitions: Int = 1): String = {
    val path = folder.resolve(name).toString
    val rows =
      spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS x", s"id % $partitions AS p")
    rows.write.partitionBy(Seq("p").filter(_ => partitions > 1): _*).format("delta").save(path)
    path
  }

  protected def optimize(path: String, by: String = "id, x"): Unit =
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY ($by)").collect(): Unit

  protected def rows(path: String): Set[Row] = spark.read.format("delta").load(path).collect().toSet

  protected def failing(fault: ThrowingLogStore.Fault)(body: => Unit): Option[Throwable] = {
    ThrowingLogStore.instead.set(Some(fault))
    try {
      val failure = Caught(body).failed.toOption
      assert(ThrowingLogStore.instead.get.isEmpty, "the fault was not met")
      failure
    } finally {
      ThrowingLogStore.instead.set(None)
      ThrowingLogStore.listing.set(None)
      Thread.interrupted(): Unit
    }
  }

  protected def version(path: String): Long = {
    DeltaLog.clearCache()
    DeltaLog.forTable(spark, path).update().version
  }

  /** The names of a table's files, by its log. */
  protected def liveFiles(path: String): Set[String] = {
    DeltaLog.clearCache()
    val files = DeltaLog.forTable(spark, path).update().allFiles.collect()
    files.map(f => new Path(f.path).getName).toSet
  }

  protected def conditionOf(e: Option[Throwable]): Option[String] =
    e.collect { case known: SparkThrowable => known.getCondition }

  protected def exists = new FileAlreadyExistsException("it is there")
  protected def lost = new IOException("connection lost after writing")
  protected def refused = new IOException("no connection to the store")
}
