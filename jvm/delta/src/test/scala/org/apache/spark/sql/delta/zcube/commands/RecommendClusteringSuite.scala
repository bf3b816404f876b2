package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

/** RECOMMEND CLUSTERING: what Spark and Delta make of the queries. */
class RecommendClusteringSuite extends AnyFunSuite with DeltaSparkSession {

  /** Ten files, each with users, days and cities of all values. */
  private lazy val table = {
    val path = folder.resolve("events").toString
    spark.range(0, 20000, 1, 10).selectExpr(
      "pmod(hash(id), 1000) userId",
      "date_add(date'2026-01-01', int(pmod(hash(id, 1), 100))) Day",
      "named_struct('City', pmod(hash(id, 2), 500)) Place"
    ).write.format("delta").save(path)
    s"delta.`$path`"
  }

  override protected def settings: Map[String, String] =
    Map("spark.databricks.delta.optimize.maxFileSize" -> (8 << 10).toString)

  private def advise(queries: String*): Seq[Row] =
    spark.sql(s"RECOMMEND CLUSTERING $table FOR ${queries.map(q => s"\"$q\"").mkString(", ")}")
      .collect().toSeq

  private def list[T](row: Row, field: String): Seq[T] = row.getSeq[T](row.fieldIndex(field))

  private def layout(row: Row): (Seq[String], Double, Boolean) =
    (
      list[String](row, "columns"),
      row.getAs[Double]("bytes_read"),
      row.getAs[Boolean]("worthwhile"))

  test("columns and fields that a query spells in another case") {
    def layouts(query: String) = advise(query).tail.map(layout)
    for ((declared, other) <- Seq(
        "userId = 5" -> "USERID = 5",
        "Place.City = 5" -> "place.cITY = 5",
        s"SELECT count(*) FROM $table WHERE Day = '2026-01-05'" ->
          s"WITH v AS (SELECT DAY AS d FROM $table) SELECT count(*) FROM v WHERE D = '2026-01-05'"
      )) {
      val expected = layouts(declared)
      assert(expected.head._3, declared)
      assert(layouts(other) === expected, other)
    }
  }

  test("an empty table, and a column without statistics") {
    val path = folder.resolve("of_a").toString
    spark.sql(s"CREATE TABLE delta.`$path` (a INT, b INT) USING delta TBLPROPERTIES " +
      "('delta.dataSkippingStatsColumns' = 'a')")
    def rows = spark.sql(s"RECOMMEND CLUSTERING delta.`$path` FOR 'a = 1', 'b = 1'").collect()
    assert(rows.map(_.getAs[String]("summary")) ===
      Array("as it is, the queries read 0.0 B; the table has no files yet"))
    spark.range(100).selectExpr(
      "int(id) a",
      "int(id) b").write.format("delta").mode("append").save(path)
    assert(list[Row](rows.head, "queries").map(list[String](_, "notes")) === Seq(
      Nil,
      Seq("no layout helps with b, which has no statistics")))
  }

  test("a version in a path is rejected by RECOMMEND, and described by DESCRIBE") {
    val path = folder.resolve("of_versions@v1").toString
    spark.range(0, 1000, 1, 5).write.format("delta").save(path)
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id)").collect()
    def files(of: String) = spark.sql(of).head().getAs[Long]("files")
    // The folder's name looks like a version.
    assert(files(s"RECOMMEND CLUSTERING delta.`$path` FOR 'id >= 0'") === 1)
    assert(files(s"RECOMMEND CLUSTERING delta.`$path/` FOR 'id >= 0'") === 1)
    assert(files(s"DESCRIBE CLUSTERING delta.`$path` BY (id)") === 1)
    assert(files(s"DESCRIBE CLUSTERING delta.`$path@v0` BY (id)") === 5)
    for (version <- Seq("@v0", "/@v0", "@v1")) {
      val refusal = intercept[AnalysisException](
        files(s"RECOMMEND CLUSTERING delta.`$path$version` FOR 'id >= 0'"))
      assert(refusal.getCondition === "ZCUBE_RECOMMEND_NEEDS_NEWEST", version)
    }
  }

  test("the error for a view names the statement") {
    spark.range(1).createOrReplaceTempView("not_a_table")
    for (statement <-
        Seq("RECOMMEND CLUSTERING not_a_table FOR 'id = 1'", "DESC CLUSTERING not_a_table")) {
      val refusal = intercept[AnalysisException](spark.sql(statement))
      assert(refusal.getCondition.startsWith("EXPECT_TABLE_NOT_VIEW"))
      assert(refusal.getMessage.contains(statement.take(4)))
      assert(!refusal.getMessage.contains("OPTIMIZE"))
    }
  }

  test("a cached table, or a cached query on it, changes nothing") {
    val queries = Seq("userId = 5", s"SELECT * FROM $table WHERE Day = '2026-01-05'")
    val expected = advise(queries: _*)
    val cached = Seq(spark.table(table), spark.sql(queries.last)).map(_.cache())
    try {
      cached.foreach(query => assert(query.count() > 0))
      assert(advise(queries: _*) === expected)
    } finally cached.foreach(_.unpersist())
  }

  test("queries that read nothing are no reason to lay out the table") {
    val today +: layouts = advise("userId = 5000", "Place.City < 0")
    assert(today.getAs[Double]("bytes_read") === 0.0)
    assert(today.getAs[String]("summary").endsWith("clustering isn't worth it for these queries"))
    assert(layouts.nonEmpty && layouts.forall(!layout(_)._3))
    assert(layouts.forall(_.getAs[String]("summary").endsWith("; not worth it")))
  }

  test("a scan that a LIMIT ends early doesn't count against layouts, which don't matter to it") {
    def figures(row: Row) = (row.getAs[Double]("files_read"), row.getAs[Double]("bytes_read"))
    def notes(row: Row) =
      list[Row](row, "queries").map(query => list[String](query, "notes"))
    val noted = Seq("a scan that its LIMIT ends early isn't counted")
    val preview = s"SELECT * FROM $table LIMIT 5"
    val Seq(today, best) = advise("userId = 5").take(2)
    val Seq(todayToo, same) = advise("userId = 5", preview).take(2)
    assert(figures(todayToo) === figures(today))
    assert(layout(same) === layout(best) && layout(best)._3)
    assert(notes(todayToo) === Seq(Nil, noted) && notes(same) === Seq(Nil, noted))
    val Seq(alone) = advise(preview)
    assert(alone.getAs[String]("summary").endsWith("clustering isn't worth it"))
    val Seq(everything, _) = advise("userId = 5", s"SELECT * FROM $table LIMIT 1000000").take(2)
    assert(figures(everything)._1 > figures(today)._1 && notes(everything) === Seq(Nil, Nil))
    // With a condition, rows that satisfy it may be anywhere.
    val Seq(_, filtered) = advise(s"SELECT * FROM $table WHERE userId = 5 LIMIT 5").take(2)
    assert(layout(filtered) === layout(best) && notes(filtered) === Seq(Nil))
    val Seq(_, both) =
      advise(
        s"SELECT * FROM ($preview) a JOIN $table b ON a.Day = b.Day WHERE b.userId = 5").take(2)
    assert(layout(both) === layout(best) && notes(both) === Seq(noted))
  }
}
