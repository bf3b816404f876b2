package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.zcube.table.{DataFiles, FileFilter, FilesOutside, PlanningRanges, TableColumns}
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.apache.spark.sql.zcube.SparkEvents
import org.apache.spark.storage.RDDInfo
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.clustering.table.OutsideWhere
import io.zcube.planning.CubeRest

/** Measures what a statement on a few files of a large table brings to the driver, in bytes of task
  * results as counted by Spark. The tables are logs without data.
  */
class LargeLogSuite extends AnyFunSuite with DeltaSparkSession {

  private val Files = 20000
  private val Partitions = 100

  /** Strings with a long common prefix, so that statistics don't shorten them. */
  private def text(i: Int) = "https://example.org/" + "x" * 60 + f"/$i%08d"

  private def file(i: Int, values: Map[String, String], provider: Option[String]): AddFile =
    AddFile(
      s"part-$i",
      values,
      100L << 20,
      1,
      dataChange = true,
      stats = s"""{"numRecords":1000,"minValues":{"a":$i,"s":"${text(i)}"},""" +
        s""""maxValues":{"a":${i + 1},"s":"${text(i + 1)}"},"nullCount":{"a":0,"s":0}}""",
      tags = Map(
        "ZCUBE_ID" -> s"cube-${i / 300}",
        "ZCUBE_ZORDER_BY" -> """["a","s"]""",
        "ZCUBE_ZORDER_CURVE" -> "hilbert"),
      clusteringProvider = provider
    )

  private def table(name: String, declaration: String): String = {
    val path = folder.resolve(name).toString
    spark.sql(s"CREATE TABLE delta.`$path` (a BIGINT, s STRING, p INT) USING delta $declaration")
    path
  }

  private lazy val partitioned: String = {
    val path = table("partitioned", "PARTITIONED BY (p)")
    commit(path, (0 until Files).map(i => file(i, Map("p" -> (i % Partitions).toString), None)))
    path
  }

  private lazy val clustered: String = {
    val path = table("clustered", "CLUSTER BY (a, s)")
    commit(path, (0 until Files).map(i => file(i, Map.empty, Some("liquid"))))
    path
  }

  private def commit(path: String, files: Seq[AddFile]): Unit =
    DeltaLog.forTable(spark, path).startTransaction(None).commit(files, ManualUpdate): Unit

  /** Its state is already built: what Delta needs for that is not counted. */
  private def snapshotOf(path: String): Snapshot = {
    val snapshot = DeltaLog.forTable(spark, path).update()
    assert(snapshot.numOfFiles >= Files)
    snapshot
  }

  /** Bytes that tasks sent to the driver, beyond what a task without a result sends. */
  private def received(body: => Unit): Long = {
    val bytes = new AtomicLong
    val listener = new SparkListener {
      override def onTaskEnd(task: SparkListenerTaskEnd): Unit = {
        val _ = bytes.addAndGet(math.max(0L, task.taskMetrics.resultSize - OfTask))
      }
    }
    SparkEvents.within(spark.sparkContext, listener)(body)
    bytes.get
  }

  private val OfTask = 8L << 10

  /** What Delta's own command requests: the files that WHERE selects. */
  private def yardstick(path: String, predicate: String): (Long, Int) = {
    val snapshot = snapshotOf(path)
    val condition = spark.sessionState.sqlParser.parseExpression(predicate)
    var files = 0
    val bytes = received {
      files = snapshot.filesForScan(Seq(condition), keepNumRecords = true).files.size
    }
    (bytes, files)
  }

  if (Night.all) test(
    "WHERE on one partition: about as much data as Delta collects, none from other partitions") {
    val (delta, files) = yardstick(partitioned, "p = 7")
    assert(files == Files / Partitions)
    Seq(
      s"OPTIMIZE delta.`$partitioned` WHERE p = 7 ZORDER BY (a, s) OPTIONS ('curve' = 'hilbert') DRY RUN",
      s"DESCRIBE CLUSTERING delta.`$partitioned` BY (a, s) WHERE p = 7"
    ).foreach { statement =>
      val bytes = received(spark.sql(statement).collect(): Unit)
      assert(bytes < 2 * delta + (64 << 10), statement)
    }
  }

  test("WHERE on one partition: other files' statistics are neither parsed nor kept") {
    // A separate log that nothing has read yet.
    val path = table("kept", "PARTITIONED BY (p)")
    commit(path, (0 until 2000).map(i => file(i, Map("p" -> (i % 10).toString), None)))
    DeltaLog.clearCache()
    def kept = spark.sparkContext.getRDDStorageInfo.toSeq
      .filter(rdd => rdd.name.contains(path) && rdd.isCached)
    def bytes(rdds: Seq[RDDInfo]) = rdds.map(rdd => rdd.memSize + rdd.diskSize).sum
    val before = kept.map(_.id).toSet
    Seq(
      s"OPTIMIZE delta.`$path` WHERE p = 7 ZORDER BY (a, s) OPTIONS ('curve' = 'hilbert') DRY RUN",
      s"DESCRIBE CLUSTERING delta.`$path` BY (a, s) WHERE p = 7"
    ).foreach { statement =>
      spark.sql(statement).collect()
      // Only the table's state, which any statement builds.
      assert(kept.count(rdd => !before(rdd.id)) == 1, statement)
    }
    val state = kept.filterNot(rdd => before(rdd.id))
    // If statistics of all files are requested, Delta caches them, which takes the same again.
    spark.sql(s"DESCRIBE CLUSTERING delta.`$path` BY (a, s)").collect()
    assert(bytes(kept.filterNot(rdd => before(rdd.id))) > 1.2 * bytes(state))
  }

  if (Night.all) test("WHERE on a clustered table: excluded files are counted, not collected") {
    val few = "a BETWEEN 1000 AND 1100"
    var stay = 0L
    val bytes = received {
      stay = spark.sql(s"OPTIMIZE delta.`$clustered` WHERE $few DRY RUN")
        .where("reasons['outside WHERE'] > 0").head().getAs[Long]("files")
    }
    assert(stay == Files - 102)
    assert(bytes < (256 << 10))
    assert(
      received(spark.sql(s"DESCRIBE CLUSTERING delta.`$clustered` WHERE $few").collect(): Unit) <
        (256 << 10))
  }

  test("each file's ranges take a fixed number of bytes, however long the values") {
    val snapshot = snapshotOf(partitioned)
    val session = spark.asInstanceOf[classic.SparkSession]
    val columns =
      Seq("a", "s").map(name => TableColumns.find(snapshot.schema, Seq(name), _ == _).get)
    val wanted = (0 until 50).map(i => s"part-$i")
    val some = received {
      val ranges =
        PlanningRanges.of(session, columns, FileFilter(wanted.iterator).of(snapshot.withStats))
      wanted.zipWithIndex.foreach { case (path, i) =>
        assert(ranges.of(path).lower(0) == i && ranges.of(path).upper(0) == i + 1)
        // Texts that differ only behind a long prefix are different, too.
        assert(ranges.of(path).lower(1) < ranges.of(path).upper(1))
        if (i > 0) assert(ranges.of(path).lower(1) == ranges.of(wanted(i - 1)).upper(1))
      }
      val _ = assert(ranges.of("part-60").dimensions == 0)
    }
    assert(some < (16 << 10))
    // Beside a sample of texts.
    val all = received(PlanningRanges.of(session, columns, snapshot.withStats): Unit)
    assert(all > Files * 38 && all < Files * 40 + (256 << 10))
    // At the ends too, where the next appends will be.
    val ranges = PlanningRanges.of(session, columns, snapshot.withStats)
    val ends = ((0 until 50) ++ (Files - 50 until Files)).map(i => ranges.of(s"part-$i").upper(1))
    assert(ends == ends.distinct.sorted)
  }

  test("after a conflict, only the run's files are collected") {
    val snapshot = snapshotOf(clustered)
    val wanted = Set("part-3", "part-19999", "part-none")
    val bytes = received {
      val found = FileFilter(wanted.iterator).filesOf(snapshot).map(_.path).toSet
      val _ = assert(found == Set("part-3", "part-19999"))
    }
    assert(bytes < (16 << 10))
  }

  test("the sums for a cube's excluded files equal those computed file by file") {
    val path =
      table("rest", "CLUSTER BY (a, s) TBLPROPERTIES ('delta.enableDeletionVectors' = true)")
    val files = (0 until 900).map { i =>
      val plain = file(i, Map.empty, Some("liquid")).copy(size = 1000L + i)
      // Some without statistics, all in one cube; some with deleted rows.
      if (i > 700 && i % 50 == 0) plain.copy(stats = null)
      else if (i % 7 == 0) {
        plain.copy(deletionVector =
          DeletionVectorDescriptor.inlineInLog(Array[Byte](1, 2, 3), cardinality = 1L + i % 13))
      } else plain
    }
    commit(path, files)
    val snapshot = DeltaLog.forTable(spark, path).update()
    val (inside, outside) = files.partition(f => f.path.hashCode % 3 == 0)
    val ids = Set("cube-0", "cube-2")
    val expected = ids.map { id =>
      val members = outside.filter(_.tags("ZCUBE_ID") == id)
      val rows = members.map(_.numLogicalRecords)
      id -> CubeRest(
        members.size.toLong,
        members.map(DataFiles.of(_, None).bytes).sum,
        Option.when(rows.forall(_.isDefined))(rows.flatten.sum))
    }.toMap
    assert(expected("cube-0").rows.isDefined && expected("cube-2").rows.isEmpty)
    val found = FilesOutside.of(
      spark.asInstanceOf[classic.SparkSession],
      snapshot,
      FileFilter(inside.iterator.map(_.path)),
      ids)
    assert(found == OutsideWhere(outside.size.toLong, expected))
  }
}
