package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** The number of partitions in which a table's state is built, which Delta then keeps. */
class SnapshotStateSuite extends AnyFunSuite with DeltaSparkSession {

  private val Files = 5000

  private def partitionsOf(snapshot: Snapshot): Int = snapshot.stateDF.rdd.getNumPartitions

  /** A freshly opened table, whose log lists the given number of files, of 3,100 bytes each. */
  private def table(name: String, files: Int): DeltaLog = {
    val path = folder.resolve(name).toString
    spark.range(10).toDF("x").write.format("delta").save(path)
    val adds = (1 to files).map(i =>
      AddFile(
        s"part-$i",
        Map.empty,
        1,
        1,
        dataChange = true,
        stats = s"""{"numRecords":1,"note":"${"s" * 3000}"}"""))
    DeltaLog.forTable(spark, path).startTransaction(None).commit(adds, ManualUpdate)
    reopened(path)
  }

  private def reopened(path: String): DeltaLog = {
    DeltaLog.clearCache()
    DeltaLog.forTable(spark, path)
  }

  private def describe(log: DeltaLog): Long = spark
    .sql(s"DESCRIBE CLUSTERING delta.`${log.dataPath}` BY (x)")
    .selectExpr("max(files)").head().getLong(0)

  private def withPartitions[T](number: Option[Int])(body: => T): T = {
    val key = DELTA_SNAPSHOT_PARTITIONS.key
    val before = spark.conf.get(key)
    number.fold(spark.conf.unset(key))(n => spark.conf.set(key, n.toString))
    try body
    finally spark.conf.set(key, before)
  }

  if (Night.all)
    test("the number of partitions fits the log's size, and the session's settings don't change") {
      val small = table("small", 1)
      withPartitions(None) {
        describe(small)
        assert(spark.conf.getOption(DELTA_SNAPSHOT_PARTITIONS.key).isEmpty)
      }
      assert(partitionsOf(small.unsafeVolatileSnapshot) == 1)
      // Some 15.5 MB of JSON, and much less as a checkpoint.
      val large = table("large", Files)
      withPartitions(None)(assert(describe(large) > Files))
      assert(partitionsOf(large.unsafeVolatileSnapshot) == 4)
      large.checkpoint(large.unsafeVolatileSnapshot)
      val again = reopened(large.dataPath.toString)
      withPartitions(None)(assert(describe(again) > Files))
      assert(partitionsOf(again.unsafeVolatileSnapshot) < 4)
    }

  test("no task holds more than about 25,000 files, however large the log") {
    val counts = Seq(1, 8000, 400000, 1200000, 3000000, 20000000).map(_.toLong)
    for { files <- counts; ofFile <- Seq(60L, 75L, 300L) } {
      val checkpointed = SnapshotState.partitions(0, files * ofFile)
      val committed = SnapshotState.partitions(files * ofFile * 8, 0)
      assert(files / checkpointed <= 27000 && files / committed <= 27000, s"$files, $ofFile")
      // A short log has few tasks; the number grows up to Delta's own.
      if (files * ofFile < 75000000) assert(checkpointed <= 50 && committed <= 50)
    }
  }

  test("the user's number is kept") {
    val log = table("chosen", 1)
    withPartitions(Some(7))(describe(log))
    assert(partitionsOf(log.unsafeVolatileSnapshot) == 7)
  }

  test("a state that is already built is reused") {
    val log = table("built", 1)
    withPartitions(Some(6))(assert(log.unsafeVolatileSnapshot.stateDF.count() > 0))
    withPartitions(None)(describe(log))
    assert(partitionsOf(log.unsafeVolatileSnapshot) == 6)
  }
}
