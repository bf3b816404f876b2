package org.apache.spark.sql.delta.zcube.format

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, ThrowingLogStore}

import io.zcube.Night
import io.zcube.clustering.table.{ClusterableTable, ClusterableTableContract}

/** Delta tables satisfy the engine's assumptions. */
class DeltaClusterableTableSuite extends ClusterableTableContract with DeltaSparkSession {

  override protected def settings: Map[String, String] =
    Map("spark.delta.logStore.file.impl" -> classOf[ThrowingLogStore].getName)

  override protected def exhaustive: Boolean = Night.all

  private val numbers = new AtomicInteger

  override protected def session: classic.SparkSession =
    spark.asInstanceOf[classic.SparkSession]

  override protected def newTable(partitioned: Boolean): ContractTable = new ContractTable {
    private val path = folder.resolve(s"contract-${numbers.incrementAndGet()}").toString
    private val log = DeltaLog.forTable(spark, path)
    spark.sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, x INT, y BIGINT, p INT) USING delta " +
        (if (partitioned) "PARTITIONED BY (p) " else "") +
        "TBLPROPERTIES ('delta.enableDeletionVectors' = true)")

    override val table: ClusterableTable = new DeltaClusterableTable(log, None)

    override def append(ids: Range): Unit = {
      val rows = ids.map(id => rowOf(id.toLong))
      spark.createDataFrame(rows).toDF("id", "x", "y", "p").coalesce(1)
        .write.format("delta").mode("append").save(path)
    }

    override def delete(id: Long): Unit =
      spark.sql(s"DELETE FROM delta.`$path` WHERE id = $id").collect(): Unit

    override def ids: Seq[Long] =
      spark.read.format("delta").load(path).select("id").collect().map(_.getLong(0)).sorted.toSeq

    override def query: classic.DataFrame = session.read.format("delta").load(path)

    override def liveFiles: Set[String] = log.update().allFiles.collect().map(_.path).toSet

    override def storedFiles: Set[String] = dataFiles(path)

    override def loseNextAnswer(): Unit =
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.after(new IOException("lost"))))

    override def failNextCommit(): Unit =
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.before(new IOException("no way"))))
  }
}
