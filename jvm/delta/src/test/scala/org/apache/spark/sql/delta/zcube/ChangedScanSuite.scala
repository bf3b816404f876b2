package org.apache.spark.sql.delta.zcube

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.ZCubeSparkSessionExtension

/** Row filters and masks of other extensions must not become permanent. */
class ChangedScanSuite extends AnyFunSuite with DeltaSparkSession {
  import ChangedScanSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.extensions" -> Seq(
      "io.delta.sql.DeltaSparkSessionExtension",
      classOf[ZCubeSparkSessionExtension].getName,
      classOf[ChangingExtension].getName).mkString(","))

  private def table(
      name: String,
      vectors: Boolean,
      isCounted: Boolean,
      mapping: String = "none"): String = {
    val path = folder.resolve(name.replace(' ', '_')).toString
    spark.sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, x INT, s STRING, masked STRING) USING delta " +
        s"TBLPROPERTIES ('delta.enableDeletionVectors' = '$vectors', " +
        s"'delta.columnMapping.mode' = '$mapping')")
    spark.conf.set("spark.databricks.delta.stats.collect", isCounted.toString)
    try spark.range(0, 300, 1, 3)
        .selectExpr("id", "CAST(hash(id) AS INT) x", "hex(id) s", "hex(-id) masked")
        .write.format("delta").mode("append").save(path)
    finally spark.conf.unset("spark.databricks.delta.stats.collect")
    if (vectors) spark.sql(s"DELETE FROM delta.`$path` WHERE id = 7"): Unit
    path
  }

  private def rows(path: String): Set[Row] = spark.read.format("delta").load(path).collect().toSet

  private def changing[T](mode: String)(body: => T): T = {
    ChangingExtension.mode = mode
    try body
    finally ChangingExtension.mode = ""
  }

  // Each with or without deletion vectors, in turns; `ZCUBE_TESTS=all`: each with and without.
  for {
    ((mode, isCounted, condition), i) <- Seq(
      ("filter", true, Changed),
      ("mask", true, Changed),
      ("late format", true, Changed),
      ("late copy", false, Changed)
    ).++(Night.only(
      ("late filter", true, Mismatch),
      ("swap", true, Changed),
      ("late filter", false, Changed),
      ("late end", false, Changed),
      ("format", true, Changed),
      ("late format", false, Changed),
      ("copy", true, Changed),
      ("late copy", true, Changed)
    )).zipWithIndex
    vectors <- Seq(false, true)
    if Night.all || vectors == (i / 2 % 2 == 0)
  } test(s"a scan changed by a $mode is rejected, counted: $isCounted, vectors: $vectors") {
    // Plain Parquet knows neither the columns' physical names nor deletion vectors.
    val mapping = if (mode.endsWith("format")) "name" else "none"
    val path = table(s"$mode $isCounted $vectors", vectors, isCounted, mapping)
    val before = rows(path)
    val files = dataFiles(path)
    assert(changing(mode)(rows(path)) != before, "the rule does nothing")
    Seq("", "OPTIONS ('forecast' = 'true') DRY RUN").foreach { end =>
      val error = intercept[Exception](changing(mode)(
        spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (x) $end").collect()))
      assert(error.asInstanceOf[SparkThrowable].getCondition === condition)
    }
    assert(dataFiles(path) === files)
    assert(rows(path) === before)
  }

  for (isCounted <- false +: Night.only(true))
    test(s"a rule that wraps the scan without changing it is accepted, counted: $isCounted") {
      val path = table(s"alias $isCounted", vectors = true, isCounted)
      val before = rows(path)
      changing("alias")(spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (x)").collect())
      assert(spark.sql(s"DESCRIBE HISTORY delta.`$path`").head().getAs[String]("operation") ===
        "OPTIMIZE")
      assert(rows(path) === before)
    }
}

object ChangedScanSuite {
  private val Changed = "ZCUBE_SCAN_CHANGED"
  private val Mismatch = "ZCUBE_LOGGED_ROWS_MISMATCH"
}
