package org.apache.spark.sql.delta.zcube.format

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, ThrowingLogStore}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.Night
import io.zcube.clustering.run.LayoutSession
import io.zcube.clustering.table.{ClusterableTable, ClusterableTableContract, WhereClause}
import io.zcube.sql.errors.ZCubeExecutionException

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

  /** The number of Spark jobs that the body starts. */
  private def jobsOf(body: => Unit): Int = {
    val started = new AtomicInteger
    val listener = new SparkListener {
      override def onJobStart(event: SparkListenerJobStart): Unit =
        started.incrementAndGet(): Unit
    }
    val context = session.sparkContext
    context.listenerBus.waitUntilEmpty()
    context.addSparkListener(listener)
    try body
    finally {
      context.listenerBus.waitUntilEmpty()
      context.removeSparkListener(listener)
    }
    started.get
  }

  test("what the log has on files is read once, and only for those that are used") {
    val made = newTable(partitioned = false)
    (0 until 3).foreach(i => made.append(10 * i until 10 * i + 10))
    val version = made.table.latest()
    val clone = LayoutSession.cloneOf(session, version)
    Sessions.within(clone) {
      def chosen() = {
        val selection = version.select(WhereClause.Everything)
        (selection, selection.files(None).sortBy(_.path).take(2))
      }
      val (prepared, files) = chosen()
      assert(jobsOf(prepared.prepare(files)) == 1)
      assert(jobsOf(prepared.prepare(files)) == 0)
      assert(jobsOf(prepared.begin(clone, files).abort()) == 0)
      assert(jobsOf(prepared.scan(clone, files): Unit) == 0)
      val (unprepared, same) = chosen()
      assert(jobsOf(unprepared.begin(clone, same).abort()) == 1)
      val rows = Seq(prepared, unprepared).map { selection =>
        Sessions.rowsOf(clone, selection.scan(clone, same).plan).collect().map(_.getLong(0)).toSet
      }
      assert(rows.head == rows.last && rows.head.size == 20)
    }
  }

  test("a file that isn't of the selection is refused") {
    val made = newTable(partitioned = false)
    made.append(0 until 10)
    val version = made.table.latest()
    val clone = LayoutSession.cloneOf(session, version)
    Sessions.within(clone) {
      val selection = version.select(WhereClause.Everything)
      val another = selection.files(None).map(_.copy(path = "part-of-another-table.parquet"))
      val refused = intercept[ZCubeExecutionException](selection.scan(clone, another))
      assert(refused.getMessage.contains("part-of-another-table.parquet is not of this selection"))
    }
  }
}
