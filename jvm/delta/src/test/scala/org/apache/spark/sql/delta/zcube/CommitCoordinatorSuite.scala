package org.apache.spark.sql.delta.zcube

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.coordinatedcommits._
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.zcube.table.CatalogManaged
import org.apache.spark.sql.delta.{CatalogOwnedTableFeature, DeltaLog}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.Caught

/** Tables whose commits are managed by a catalog. */
class CommitCoordinatorSuite extends AnyFunSuite with DeltaSparkSession {

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    // Outside tests, Delta creates such tables for only one catalog.
    System.setProperty("spark.testing", "true")
    // Commits are backfilled in threes.
    CatalogOwnedCommitCoordinatorProvider.registerBuilder(
      "spark_catalog",
      InMemoryCommitCoordinatorBuilder(3))
  }

  override protected def afterAll(): Unit =
    try {
      System.clearProperty("spark.testing")
      CatalogOwnedCommitCoordinatorProvider.clearBuilders()
    } finally super.afterAll()

  private def insert(table: String): Unit =
    spark.sql(
      s"INSERT INTO $table SELECT id, hash(id) AS x FROM range(0, 1000, 1, 2)").collect(): Unit

  private def rows(table: String): Seq[Row] =
    spark.sql(s"SELECT * FROM $table ORDER BY id, x").collect().toSeq

  private def withoutZCube[T](body: => T): T = {
    spark.conf.set("spark.zcube.enabled", "false")
    try body
    finally spark.conf.unset("spark.zcube.enabled")
  }

  private def deltasCommand(statement: String): OptimizeTableCommand = withoutZCube {
    val parsed = spark.sessionState.sqlParser.parsePlan(statement)
    spark.sessionState.executePlan(parsed).analyzed match {
      case command: OptimizeTableCommand => command
      case other => fail(other.nodeName)
    }
  }

  if (Night.all)
    test("a catalog's table: auto compaction by ZCube, if allowed, commits through it") {
      spark.sql(
        "CREATE TABLE auto (id BIGINT, x INT) USING delta CLUSTER BY (id, x) TBLPROPERTIES " +
          s"('delta.feature.${CatalogOwnedTableFeature.name}' = 'supported')")
      spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
      spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "2")
      try (1 to 4).foreach(_ => insert("auto"))
      finally {
        spark.conf.unset("spark.databricks.delta.autoCompact.enabled")
        spark.conf.unset("spark.databricks.delta.autoCompact.minNumFiles")
      }
      val log = DeltaLog.forTable(spark, TableIdentifier("auto"))
      val history = spark.sql("DESCRIBE HISTORY auto").select("version", "operation").collect()
      val optimized = history.filter(_.getString(1) == "OPTIMIZE").map(_.getLong(0))
      assert(optimized.nonEmpty)
      // The first ones are where log readers expect them; the last may still be with the catalog.
      val fs = log.logPath.getFileSystem(log.newDeltaHadoopConf())
      assert((0L to optimized.min).forall(v =>
        fs.exists(FileNames.unsafeDeltaFile(log.logPath, v))))
      DeltaLog.clearCache()
      assert(rows("auto").size === 4000)
      assert(rows("auto").map(_.getLong(0)).distinct.size === 1000)
      spark.sql("DROP TABLE auto")
    }

  test("a catalog's table: OPTIMIZE is rejected exactly when Delta rejects it") {
    spark.sql("CREATE TABLE managed (id BIGINT, x INT) USING delta TBLPROPERTIES " +
      s"('delta.feature.${CatalogOwnedTableFeature.name}' = 'supported')")
    insert("managed")
    insert("managed")
    def outcome(sql: String): Either[(String, String), Set[Row]] =
      try {
        spark.sql(sql).collect()
        Right(rows("managed").toSet)
      } catch {
        case e: Exception with SparkThrowable => Left(e.getCondition -> e.getMessage)
      }
    val sql = "OPTIMIZE managed ZORDER BY (id, x)"
    val ours = outcome(sql)
    val deltas = withoutZCube(outcome(sql))
    assert(ours === deltas)
    val snapshot = DeltaLog.forTable(spark, TableIdentifier("managed")).update()
    // A Delta that permits it is permitted: here, its check of a table without a catalog.
    val path = folder.resolve("plain").toString
    spark.range(10).write.format("delta").save(path)
    def check(statement: String): Unit =
      CatalogManaged.check(spark, snapshot, deltasCommand(statement))
    check(s"OPTIMIZE delta.`$path`")
    assert(Caught(check("OPTIMIZE managed")).isFailure === deltas.isLeft)
    assert(DeltaLog.forTable(spark, TableIdentifier("managed")).update().isCatalogOwned)
    spark.sql("DROP TABLE managed")
  }
}
