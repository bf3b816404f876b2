package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.scalatest.funsuite.AnyFunSuite

/** Tags that another writer has put there. */
class CubeTagsSuite extends AnyFunSuite with DeltaSparkSession {

  private val ById = Map("ZCUBE_ID" -> "an id", "ZCUBE_ZORDER_BY" -> """["x"]""")

  /** Bytes in cubes by these columns, in others, and in none. */
  private def sizesOf(path: String): (Long, Long, Long) = {
    val found = spark.sql(s"DESCRIBE CLUSTERING delta.`$path` BY (x, y)")
      .select("bytes_in_cubes", "bytes_other_columns", "bytes_fresh").head()
    (found.getLong(0), found.getLong(1), found.getLong(2))
  }

  for ((name, tags) <- Seq(
      "columns that aren't JSON" -> ById.updated("ZCUBE_ZORDER_BY", "x, y"),
      "columns that are no list" -> ById.updated("ZCUBE_ZORDER_BY", """{"x": 1}"""),
      "no columns" -> ById.updated("ZCUBE_ZORDER_BY", "[]"),
      "no columns beside physical ones" ->
        ById.updated("ZCUBE_ZORDER_BY", "[]").updated(
          "ZCUBE_PHYSICAL_COLUMNS",
          """[["x"],["y"]]"""),
      "an id that is NULL" -> ById.updated("ZCUBE_ID", null),
      "physical columns that aren't JSON" -> ById.updated("ZCUBE_PHYSICAL_COLUMNS", "x")
    ))
    test(s"files with $name are rewritten like others") {
      val path = newFolder().toString
      spark.range(0, 300, 1, 3).selectExpr("id AS x", "id * 7919 % 301 AS y")
        .write.format("delta").save(path)
      val log = DeltaLog.forTable(spark, path)
      val files = log.update().allFiles.collect().toSeq
      val tagged = files.take(2).map((file: AddFile) =>
        file.copy(tags = tags, dataChange = false, modificationTime = file.modificationTime + 1))
      log.startTransaction(None).commit(tagged, ManualUpdate): Unit
      def rows = spark.read.format("delta").load(path).collect().map(_.toString).sorted.toSeq
      val before = rows
      // The description says what OPTIMIZE will see: no cubes, or those of other columns.
      val others =
        if (tags.get("ZCUBE_PHYSICAL_COLUMNS").contains("x")) tagged.map(_.size).sum else 0L
      assert(sizesOf(path) == ((0L, others, log.update().sizeInBytes - others)))
      spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (x, y)").collect(): Unit
      assert(rows == before)
      assert(log.update().numOfFiles == 1)
    }

  /** A table in no order, laid out with these options. */
  private def laidOut(options: String): String = {
    val path = newFolder().toString
    spark.range(0, 300, 1, 3).selectExpr("id AS x", "id * 7919 % 301 AS y")
      .write.format("delta").save(path)
    optimize(path, options)
    path
  }

  private def optimize(path: String, options: String): Unit =
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (x, y) OPTIONS ('curve' = 'kdtree', $options)")
      .collect(): Unit

  private def commits(path: String): Long = DeltaLog.forTable(spark, path).update().version

  test("weights in the same ratio are the same layout, whoever wrote their digits") {
    val path = laidOut("'weights' = 'x=1,y=3'")
    // 0.1 / 0.3 is another double than 1.0 / 3.0.
    optimize(path, "'weights' = 'x=0.1,y=0.3'")
    assert(commits(path) == 1)
    val log = DeltaLog.forTable(spark, path)
    val files = log.update().allFiles.collect().toSeq
    val tagged = files.map { file =>
      val tags = file.tags.updated("ZCUBE_WEIGHTS", s"[${1.0 / 3.0},1.0]")
      file.copy(tags = tags, dataChange = false, modificationTime = file.modificationTime + 1)
    }
    assert(tagged.exists(_.tags != files.head.tags))
    log.startTransaction(None).commit(tagged, ManualUpdate): Unit
    optimize(path, "'weights' = 'x=1,y=3'")
    assert(commits(path) == 2)
    optimize(path, "'weights' = 'x=1,y=4'")
    assert(commits(path) == 3)
  }

  test("a workload whose weights have the same ratios is the same layout, in any order") {
    def queries(weights: Double*) = {
      val repeated = weights.init.map(w => s"""{"predicate": "x < 50", "weight": $w}""")
      val other = s"""{"predicate": "y < 50", "weight": ${weights.last}}"""
      (repeated :+ other).mkString("'workload' = '[", ", ", "]'")
    }
    val path = laidOut(queries(0.1, 0.2, 0.3, 1.8))
    optimize(path, queries(0.3, 0.2, 0.1, 1.8))
    optimize(path, queries(1, 2, 3, 18))
    assert(commits(path) == 1)
    optimize(path, queries(1, 2, 4, 18))
    assert(commits(path) == 2)
  }
}
