package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.zcube.merge.TargetFiles
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.table.ColumnPath

/** A session whose functions hide Spark's of the same names. Delta reads its log without these. */
class ReplacedFunctionsSuite extends AnyFunSuite with DeltaSparkSession {

  /** Spark 4.0 and 4.1 always look for them first. */
  override protected def settings: Map[String, String] =
    Map("spark.sql.functionResolution.sessionOrder" -> "first")

  private lazy val path = {
    val path = folder.resolve("table").toString
    spark.sql(s"CREATE TABLE delta.`$path` (x BIGINT, s STRING) USING delta")
    for (start <- Seq(0L, 10L))
      spark.range(start, start + 10, 1, 1).selectExpr("id AS x", "'text' AS s")
        .write.format("delta").mode("append").save(path)
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (x, s)")
    path
  }

  private def snapshot: Snapshot = {
    DeltaLog.clearCache()
    DeltaLog.forTable(spark, path).update()
  }

  private lazy val own = spark.asInstanceOf[SparkSession]

  private lazy val replaced = {
    val session = own.newSession()
    session.udf.register("concat", (_: String, _: String, _: String) => "{}")
    session.udf.register("array", (_: String, _: String) => Seq("other", "columns"))
    session.udf.register("size", (_: Seq[String]) => 0)
    session.udf.register("lower", (_: String) => "\\ufffd")
    session.udf.register("contains", (_: String, _: String) => true)
    session
  }

  /** What both sessions find. */
  private def found[T](of: SparkSession => T): T = {
    val Seq(expected, other) =
      Seq(own, replaced).map(session => Sessions.within(session)(of(session)))
    assert(other === expected)
    expected
  }

  test("row counts of files") {
    val counts = found { session =>
      val paths = snapshot.allFiles.collect().iterator.map(_.path)
      LoggedStatistics.of(session, snapshot, Nil).actions(FileFilter(paths))
        .map(_.numLogicalRecords)
    }
    assert(counts === Seq(Some(20L)))
  }

  test("columns of the last ZORDER BY") {
    val columns = found(LastLayout.columns(_, snapshot).map(_.map(_.name)))
    assert(columns === Some(Seq("x", "s")))
  }

  test("cubes whose tags have no physical names") {
    val columns = Seq("x", "s").map(name => ColumnPath(Seq(name), Seq(name), StringType))
    val cube = found { session =>
      val files = session.sql(
        """SELECT map('ZCUBE_ID', 'cube', 'ZCUBE_ZORDER_BY', '["x", "s"]') AS tags,
          | CAST(NULL AS STRING) AS clusteringProvider""".stripMargin)
      files.select(LoggedTags.cubeIdOf(columns)).head().getString(0)
    }
    assert(cube === "cube")
  }

  test("statements find the files of their columns") {
    for (statement <- Seq("OPTIMIZE %s ZORDER BY (x, s) DRY RUN", "DESCRIBE CLUSTERING %s"))
      assert(found(_.sql(statement.format(s"delta.`$path`")).collect().map(_.toString).toSeq)
        .nonEmpty)
  }

  test("texts without bytes that aren't UTF-8") {
    val column = ColumnPath(Seq("s"), Seq("s"), StringType)
    assert(found(_ => TargetFiles.haveTrueTexts(snapshot, column)))
  }
}
