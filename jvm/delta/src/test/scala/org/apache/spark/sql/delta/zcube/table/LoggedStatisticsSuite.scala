package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaLog, Snapshot}
import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.funsuite.AnyFunSuite

/** Compares the files that WHERE selects, and their statistics, with Delta's own. */
class LoggedStatisticsSuite extends AnyFunSuite with DeltaSparkSession {

  /** Partitions by values of three types, NULL among them; columns are mapped; some files lack statistics. */
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
        if (i % 3 == 0) null else s"it's ${i % 3}%2F=é")
      val stats =
        if (i % 11 == 0) null
        else if (i % 17 == 1) ""
        else if (i % 17 == 2) "  "
        else if (i % 13 == 0) s"""{"minValues":{"$a":$i}}"""
        else s"""{"numRecords":${10 + i},"minValues":{"$a":$i},"maxValues":{"$a":${i + 9}}}"""
      AddFile(
        s"part-$i",
        names.zip(values).toMap,
        100L + i,
        i.toLong,
        dataChange = true,
        stats = stats,
        tags = if (i % 2 == 0) Map("ZCUBE_ID" -> s"cube-$i") else null)
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
    val filter = spark.sessionState.sqlParser.parseExpression(predicate)
    LoggedStatistics.of(spark.asInstanceOf[classic.SparkSession], snapshot, Seq(filter))
  }

  /** For each predicate, the files that Delta selects. */
  private lazy val expected: Map[String, Set[AddFile]] = Predicates.map { predicate =>
    val filter = spark.sessionState.sqlParser.parseExpression(predicate)
    predicate -> snapshot.filesForScan(Seq(filter), keepNumRecords = true).files.toSet
  }.toMap

  test("the files that Delta selects, with their row counts") {
    Predicates.foreach { predicate =>
      assert(statistics(predicate).files.toSet == expected(predicate), predicate)
    }
    // The oracle selects some files.
    assert(expected.values.map(_.size).count(n => n > 0 && n < 60) >= 6)
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
