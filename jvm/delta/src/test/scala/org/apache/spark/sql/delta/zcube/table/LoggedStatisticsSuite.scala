package org.apache.spark.sql.delta.zcube.table

import java.util.IdentityHashMap

import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaLog, Snapshot}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.table.{ColumnPath, LayoutTag}
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.DataFile

/** Compares the files that WHERE selects, and their statistics, with Delta's own. */
class LoggedStatisticsSuite extends AnyFunSuite with DeltaSparkSession {

  /** Partitions by values of three types, NULL among them; columns are mapped; some files lack
    * statistics, have deleted rows, or are of cubes with one layout or another.
    */
  private lazy val snapshot: Snapshot = {
    val path = folder.resolve("table").toString
    spark.sql(
      s"""CREATE TABLE delta.`$path` (a BIGINT, p INT, day DATE, `odd, name` STRING) USING delta
      | PARTITIONED BY (p, day, `odd, name`)
      | TBLPROPERTIES ('delta.columnMapping.mode' = 'name',
      |  'delta.enableDeletionVectors' = true)""".stripMargin)
    val log = DeltaLog.forTable(spark, path)
    val names = log.update().metadata.partitionSchema.map(DeltaColumnMapping.getPhysicalName)
    val a = DeltaColumnMapping.getPhysicalName(log.unsafeVolatileSnapshot.schema("a"))
    val files = (0 until 60).map { i =>
      val values = Seq(
        if (i % 7 == 0) null else (i % 7 - 3).toString,
        if (i % 5 == 0) null else s"2024-02-${25 + i % 5}",
        if (i % 7 % 3 == 0) null else s"it's ${i % 7 % 3}%2F=é")
      val stats =
        if (i % 11 == 0) null
        else if (i % 17 == 1) ""
        else if (i % 17 == 2) "  "
        else if (i % 13 == 0) s"""{"minValues":{"$a":$i}}"""
        else
          s"""{"numRecords":${10 + i},"tightBounds":false,"minValues":{"$a":$i},"maxValues":{"$a":${i + 9}}}"""
      val cube = Map(
        "ZCUBE_ID" -> s"cube-${i % 6}",
        "ZCUBE_ZORDER_BY" -> (if (i % 12 == 4) """["other"]""" else """["a"]"""),
        "ZCUBE_ZORDER_CURVE" -> (if (i % 6 == 2) "hilbert" else "zorder")
      ) ++ Option.when(i % 10 == 0)("ZCUBE_OVERLAPPING" -> "a job")
      val deleted =
        if (i % 5 == 3 && stats != null && stats.contains("numRecords"))
          DeletionVectorDescriptor.inlineInLog(Array.fill(8)(i.toByte), 4)
        else null
      AddFile(
        s"part-$i",
        names.zip(values).toMap,
        100L + i,
        i.toLong,
        dataChange = true,
        stats = stats,
        tags = if (i % 2 == 0) cube else null,
        deletionVector = deleted,
        baseRowId = Some(1000L * i),
        defaultRowCommitVersion = Some(i.toLong),
        clusteringProvider = Option.when(i % 9 == 1)("another")
      )
    }
    log.startTransaction(None).commit(files, ManualUpdate)
    log.update()
  }

  private val Predicates = Seq(
    "p = 2",
    "p = '2'",
    "P IN (-1, 1) AND day > '2024-02-27'",
    "p IS NULL OR day IS NULL",
    "day BETWEEN date'2024-02-27' AND date'2024-02-29' - 1",
    "`odd, name` LIKE '%2\\\\%2F=é' OR p <=> NULL",
    "p > 1000",
    "1 = 0",
    "a > 30",
    "p = 2 AND a > 30"
  )

  private def statistics(predicate: String): LoggedStatistics = {
    val filters = Option.when(predicate.nonEmpty)(
      spark.sessionState.sqlParser.parseExpression(predicate))
    LoggedStatistics.of(spark.asInstanceOf[classic.SparkSession], snapshot, filters.toSeq)
  }

  /** For each predicate, the files that Delta selects. */
  private lazy val expected: Map[String, Set[AddFile]] = Predicates.map { predicate =>
    val filter = spark.sessionState.sqlParser.parseExpression(predicate)
    predicate -> snapshot.filesForScan(Seq(filter), keepNumRecords = true).files.toSet
  }.toMap

  /** All cubes have this layout, but for one with another curve and one of other columns. */
  private val layout = LayoutTag(
    Seq(ColumnPath(Seq("a"), Seq("a"), LongType)),
    LayoutKind.ZOrder,
    Nil,
    None,
    declared = false)

  private lazy val all: Set[AddFile] =
    snapshot.filesForScan(Nil, keepNumRecords = true).files.toSet

  test("what planning needs to know of the files that Delta selects") {
    val tags = new CubeTags(layout)
    (Predicates.map(p => p -> expected(p)) :+ ("" -> all)).foreach { case (predicate, files) =>
      val found = statistics(predicate).files(Some(tags))
      assert(found.toSet == files.map(f => DataFiles.of(f, tags.read(f))), predicate)
      assert(found.size == files.size, predicate)
    }
    assert(statistics("").files(None).toSet == all.map(DataFiles.of(_, None)))
    // The oracle selects some files, of all kinds.
    assert(expected.values.map(_.size).count(n => n > 0 && n < 60) >= 6)
    val kinds = all.flatMap(tags.read(_)).groupBy(_.copy(id = "")).keySet
    assert(kinds.size == 6 && all.exists(_.deletionVector != null))
  }

  test("files share their cubes and partitions") {
    val files = statistics("").files(Some(new CubeTags(layout)))
    def objects(of: DataFile => AnyRef) = {
      val found = new IdentityHashMap[AnyRef, Unit]
      files.foreach(file => found.put(of(file), ()))
      found.size
    }
    assert(objects(_.partition) == files.map(_.partition).toSet.size)
    assert(objects(_.cube) == files.map(_.cube).toSet.size)
    // Fewer than files, so that there is something to share.
    assert(files.map(_.partition).toSet.size < 60 && files.flatMap(_.cube).toSet.size < 30)
  }

  test("log actions with their row counts, as Delta reads them") {
    // By the ways in which the log is read: all files, by partition, and by statistics.
    Seq("" -> all, "p = 2" -> expected("p = 2"), "a > 30" -> expected("a > 30")).foreach {
      case (predicate, files) =>
        val wanted = files.filter(_.size % 3 != 0)
        val found = statistics(predicate).actions(FileFilter(wanted.iterator.map(_.path)))
        assert(found.size == wanted.size && found.toSet == wanted, predicate)
        assert(wanted.nonEmpty)
    }
  }

  test("statistics of selected files are parsed as by Delta") {
    def rows(of: DataFrame) = of.selectExpr("path", "to_json(stats)").collect()
      .map(row => row.getString(0) -> row.getString(1)).toMap
    val ofAll = rows(snapshot.withStats)
    Predicates.foreach { predicate =>
      val paths = expected(predicate).map(_.path)
      val described = statistics(predicate).parsed(Some(FileFilter(paths.iterator)))
      assert(described.schema("stats").dataType == snapshot.withStats.schema("stats").dataType)
      assert(rows(described) == ofAll.filter(entry => paths(entry._1)), predicate)
    }
  }
}
