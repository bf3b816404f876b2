package org.apache.spark.sql.delta.zcube.declare

import java.nio.file.{Files, Paths}

import scala.util.Try

import io.delta.exceptions.ConcurrentTransactionException
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.connector.catalog.InMemoryTableCatalog
import org.apache.spark.sql.delta.skipping.clustering.{ClusteredTableUtils, ClusteringColumn}
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, FailingCommitStore, Meanwhile}
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations, TransactionExecutionObserver}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.Causes

/** Writes to clustered tables when the log store fails, and when others change the columns. */
class ClusteredWriteSuite extends AnyFunSuite with DeltaSparkSession {

  override protected def settings: Map[String, String] =
    Map(
      "spark.delta.logStore.file.impl" -> classOf[FailingCommitStore].getName,
      "spark.databricks.delta.clusteredTable.numClusteringColumnsLimit" -> "1")

  private val numbers = Iterator.from(0)

  /** A table by name and path, clustered by a, with the rows 0 and 1, or not yet there. */
  final private class Target(exists: Boolean = true) {
    val name = s"target${numbers.next()}"
    val path: String = folder.resolve(name).toString
    if (exists) {
      spark.sql(
        s"CREATE TABLE $name (a BIGINT, b BIGINT) USING delta CLUSTER BY (a) LOCATION '$path'")
      rows(0, 2).write.format("delta").mode("append").save(path)
    }

    def found: Seq[Long] = {
      DeltaLog.clearCache()
      spark.read.format("delta").load(path).collect().map(_.getLong(0)).sorted.toSeq
    }

    def columns: Seq[String] = PreservedColumns.of(DeltaLog.forTable(spark, path).update())

    def clusterBy(column: String): Unit =
      spark.sql(s"ALTER TABLE delta.`$path` CLUSTER BY ($column)"): Unit
  }

  private def rows(from: Long, until: Long): DataFrame =
    spark.range(from, until, 1, 1).selectExpr("id AS a", "id % 2 AS b")

  private val once = Map("txnAppId" -> "app", "txnVersion" -> "1")

  private def saved(data: DataFrame, mode: String) =
    data.write.format("delta").mode(mode).options(once)

  private val appends = Seq[(String, (DataFrame, Target) => Unit)](
    ("save, append, clusterBy", (d, t) => saved(d, "append").clusterBy("a").save(t.path)))

  /** Writes that determine the columns in the transaction. */
  private val overwrites = Seq[(String, (DataFrame, Target) => Unit)](
    ("save, overwrite", (d, t) => saved(d, "overwrite").save(t.path)),
    ("save, overwrite, clusterBy", (d, t) => saved(d, "overwrite").clusterBy("a").save(t.path)),
    ("insertInto, overwrite", (d, t) => saved(d, "overwrite").insertInto(t.name)),
    ("overwritePartitions", (d, t) => d.writeTo(t.name).options(once).overwritePartitions())
  )

  private val asTable: (String, (DataFrame, Target) => Unit) =
    ("saveAsTable, overwrite", (d, t) => saved(d, "overwrite").saveAsTable(t.name))

  // Each log write fails in one of three ways, in turns; `ZCUBE_TESTS=all`: in each.
  private val faults = Seq("before", "after", "exists")
  private val all = Night.all

  for {
    ((name, write), i) <- (appends ++ overwrites :+ asTable).zipWithIndex
    exists <- Seq(true, false)
    if exists || name.contains("clusterBy")
    if all || name == "save, overwrite, clusterBy" && !exists || name.contains("append") && exists
  } test(s"each log write fails, then the write is repeated: $name, the table exists: $exists") {
    val appends = name.contains("append")
    val written =
      if (appends && exists) Seq(0L, 1L, 10L, 11L, 12L) else Seq(10L, 11L, 12L)
    val clean = new Target(exists)
    val count = FailingCommitStore.failing(0, "")(write(rows(10, 13), clean))
    assert(clean.found === written)
    assert(count > 0)
    for {
      number <- 1 to count
      fault <- if (all) faults else Seq(faults((number + i + (if (exists) 0 else 1)) % 3))
    } withClue(s"log write $number, $fault: ") {
      val target = new Target(exists)
      val _ = FailingCommitStore.failing(number, fault) {
        intercept[Exception](write(rows(10, 13), target)): Unit
      }
      DeltaLog.clearCache()
      write(rows(10, 13), target)
      assert(target.found === written)
      assert(target.columns === Seq("a"))
      rows(20, 21).write.format("delta").mode("append").save(target.path)
      write(rows(10, 13), target)
      assert(target.found === written :+ 20L)
      assert(target.columns === Seq("a"))
    }
  }

  private val withOtherSchema = Seq[(String, (DataFrame, Target) => Unit)](
    "save" -> ((d, t) => replacing(d).save(t.path)),
    "overwritePartitions" -> ((d, t) =>
      d.writeTo(t.name).option("overwriteSchema", "true").overwritePartitions())
  )

  private def replacing(data: DataFrame) =
    data.write.format("delta").mode("overwrite").option("overwriteSchema", "true")

  for ((name, write) <- withOtherSchema.take(if (all) 2 else 1))
    test(s"columns set while the schema is replaced are a conflict: $name") {
      val target = new Target
      val other = new Meanwhile(false, () => target.clusterBy("b"))
      val data = spark.range(10, 13).selectExpr("id AS a", "id AS c")
      val error = intercept[Exception](
        TransactionExecutionObserver.withObserver(other)(write(data, target)))
      assert(Causes.of(error).exists(_.isInstanceOf[ConcurrentTransactionException]))
      assert(target.found === Seq(0L, 1L))
      assert(target.columns === Seq("b"))
      write(data, target)
      assert(target.found === Seq(10L, 11L, 12L))
      assert(target.columns.isEmpty)
      val again = new Target
      write(data, again)
      assert(again.columns === Seq("a"))
    }

  if (all)
    test("insertInto goes by position: the schema stays, and columns that are set meanwhile") {
      val target = new Target
      val other = new Meanwhile(false, () => target.clusterBy("b"))
      val data = spark.range(10, 13).selectExpr("id AS a", "id AS c")
      TransactionExecutionObserver.withObserver(other)(replacing(data).insertInto(target.name))
      assert(target.found === Seq(10L, 11L, 12L))
      assert(spark.table(target.name).columns.toSeq === Seq("a", "b"))
      assert(target.columns === Seq("b"))
    }

  test("a table whose log names a missing clustering column can be overwritten") {
    val target = new Target
    val log = DeltaLog.forTable(spark, target.path)
    val missing = ClusteredTableUtils.createDomainMetadata(Seq(ClusteringColumn(Seq("gone"))))
    log.startTransaction(None).commit(Seq(missing), DeltaOperations.ManualUpdate)
    for ((name, write) <- overwrites :+ asTable if !name.contains("clusterBy")) {
      write(rows(10, 13), target)
      assert(target.found === Seq(10L, 11L, 12L))
      assert(target.columns.isEmpty)
    }
    saved(rows(20, 21), "overwrite").option("overwriteSchema", "true")
      .options(Map("txnVersion" -> "2")).clusterBy("a").save(target.path)
    assert(target.columns === Seq("a"))
  }

  test("partitionBy without columns keeps the clustering columns") {
    val target = new Target
    rows(10, 13).write.format("delta").mode("overwrite").partitionBy().save(target.path)
    assert(target.found === Seq(10L, 11L, 12L))
    assert(target.columns === Seq("a"))
  }

  test("columns without statistics: as with Delta") {
    val target = new Target
    val key = "delta.dataSkippingNumIndexedCols"
    spark.sql(s"ALTER TABLE ${target.name} SET TBLPROPERTIES ('$key' = '0')")
    asTable._2(rows(10, 13), target)
    assert(target.found === Seq(10L, 11L, 12L))
    val wide = new Target
    val columns = (0 until 40).map(i => s"id AS c$i") ++ Seq("id + 1 AS a", "id AS b")
    replacing(spark.range(5).selectExpr(columns: _*)).saveAsTable(wide.name)
    assert(wide.found === (0L until 5L))
    assert(wide.columns.isEmpty)
    val source = new Target
    spark.sql(s"ALTER TABLE ${source.name} SET TBLPROPERTIES ('$key' = '0')")
    spark.sql(s"CREATE TABLE like${source.name} LIKE ${source.name} USING delta")
    assert(spark.table(s"like${source.name}").columns === Array("a", "b"))
  }

  /** By a session with a higher limit, which is a static setting. */
  private def clusteredByBoth() = {
    val target = new Target
    val columns = Seq("a", "b").map(name => ClusteringColumn(Seq(name)))
    DeltaLog.forTable(spark, target.path).startTransaction(None)
      .commit(Seq(ClusteredTableUtils.createDomainMetadata(columns)), DeltaOperations.ManualUpdate)
    target
  }

  private val withClusterBy = Seq[(String, (DataFrame, Target) => Unit)](
    ("append", (d, t) => saved(d, "append").clusterBy("a", "b").save(t.path)),
    ("overwrite", (d, t) => saved(d, "overwrite").clusterBy("a", "b").save(t.path)),
    ("new schema", (d, t) => replacing(d).clusterBy("a", "b").save(t.path))
  )

  for ((name, write) <- withClusterBy ++ overwrites.filterNot(_._1.contains("clusterBy")))
    test(s"columns that a table has aren't checked against the limit: $name") {
      val target = clusteredByBoth()
      write(rows(10, 13), target)
      val before = if (name == "append") Seq(0L, 1L) else Nil
      assert(target.found === before ++ Seq(10L, 11L, 12L))
      assert(target.columns === Seq("a", "b"))
    }

  test("columns beyond the limit: saveAsTable and CREATE TABLE LIKE work") {
    val target = clusteredByBoth()
    spark.sql(s"CREATE TABLE like${target.name} LIKE ${target.name}")
    // Delta checks the columns where they are declared, so they are lost, as with Delta.
    asTable._2(rows(10, 13), target)
    assert(target.found === Seq(10L, 11L, 12L))
    assert(target.columns.isEmpty)
  }

  for ((name, write) <- withClusterBy; exists <- Seq(true, false)
    if !exists || name == "new schema")
    test(s"columns that a table doesn't have are checked: $name, the table exists: $exists") {
      val target = new Target(exists)
      val error = intercept[Exception](write(rows(10, 13), target))
      assert(error.getMessage.contains("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"))
    }

  test("what replaces a part makes a new table with the columns, and keeps those of another") {
    val target = new Target(exists = false)
    def replace(until: Long): Unit = rows(10, until).write.format("delta").mode("overwrite")
      .option("replaceWhere", "a >= 10").clusterBy("a").save(target.path)
    replace(13)
    assert(target.found === Seq(10L, 11L, 12L))
    assert(target.columns === Seq("a"))
    rows(0, 2).write.format("delta").mode("append").save(target.path)
    replace(11)
    assert(target.found === Seq(0L, 1L, 10L))
    assert(target.columns === Seq("a"))
    val rejected = new Target(exists = false)
    val error = intercept[Exception](rows(10, 13).write.format("delta").mode("overwrite")
      .option("replaceWhere", "a >= 10").clusterBy("a", "b").save(rejected.path))
    assert(error.getMessage.contains("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"))
  }

  test("saveAsTable of a part keeps the columns, also those that are set meanwhile") {
    val target = new Target
    def replace(from: Long, until: Long): Unit = rows(from, until).write.format("delta")
      .mode("overwrite").option("replaceWhere", s"a >= $from").saveAsTable(target.name)
    replace(1, 4)
    assert(target.found === Seq(0L, 1L, 2L, 3L))
    assert(target.columns === Seq("a"))
    val other = new Meanwhile(true, () => target.clusterBy("b"))
    TransactionExecutionObserver.withObserver(other)(replace(2, 3))
    assert(target.found === Seq(0L, 1L, 2L))
    assert(target.columns === Seq("b"))
  }

  private val indexed = "spark.databricks.delta.properties.defaults.dataSkippingNumIndexedCols"

  test("the session's default for statistics applies to the columns of a new table") {
    val wide = spark.range(10, 13).selectExpr((0 to 40).map(i => s"id + $i AS c$i"): _*)
    val target = new Target(exists = false)
    withSettings(indexed -> "-1")(saved(wide, "append").clusterBy("c40").save(target.path))
    assert(target.found === Seq(10L, 11L, 12L))
    assert(target.columns === Seq("c40"))
  }

  test("the session's default maps the columns of a new table, which have no physical names yet") {
    withSettings("spark.databricks.delta.properties.defaults.columnMapping.mode" -> "name") {
      val path = folder.resolve("mapped-by-default").toString
      spark.range(3).selectExpr("id", "id AS EventDate").write.format("delta")
        .option("delta.dataSkippingStatsColumns", "EventDate")
        .mode("append").clusterBy("EventDate").save(path)
      assert(spark.read.format("delta").load(path).count() === 3)
    }
    spark.sql("CREATE TABLE unmapped (S STRUCT<x: INT>) USING delta CLUSTER BY (S.x) " +
      "TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'S.x')")
    spark.sql(
      "CREATE TABLE mapped LIKE unmapped TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    val detail = spark.sql("DESCRIBE DETAIL mapped").select("clusteringColumns").head()
    assert(detail.getSeq[String](0) === Seq("S.x"))
  }

  test("columns without statistics by the session's default: rejected before rows are written") {
    val stats = "spark.databricks.delta.properties.defaults.dataSkippingStatsColumns"
    Seq(indexed -> "1", stats -> "a").foreach { default =>
      val rejected = new Target(exists = false)
      val error = withSettings(default)(
        intercept[Exception](saved(rows(10, 13), "append").clusterBy("b").save(rejected.path)))
      assert(error.getMessage.contains("DELTA_CLUSTERING_COLUMN_MISSING_STATS"))
      // Before anything is written.
      assert(!Files.exists(Paths.get(rejected.path)) || dataFiles(rejected.path).isEmpty)
    }
  }

  test("CREATE TABLE LIKE keeps the columns if the new table has statistics of them") {
    val key = "delta.dataSkippingNumIndexedCols"
    def likes(source: Target, properties: String) = {
      val name = s"like${numbers.next()}"
      spark.sql(s"CREATE TABLE $name LIKE ${source.name} USING delta $properties")
      val log = DeltaLog.forTable(spark, TableIdentifier(name))
      PreservedColumns.of(log.update())
    }
    val source = new Target
    source.clusterBy("b")
    assert(likes(source, "") === Seq("b"))
    withSettings(indexed -> "1")(assert(likes(source, "").isEmpty))
    assert(likes(source, s"TBLPROPERTIES ('$key' = '1')").isEmpty)
    withSettings(indexed -> "1") {
      assert(likes(source, s"TBLPROPERTIES ('${key.toUpperCase}' = '2')") === Seq("b"))
    }
    spark.sql(s"ALTER TABLE ${source.name} SET TBLPROPERTIES ('$key' = '2')")
    withSettings(indexed -> "1")(assert(likes(source, "") === Seq("b")))
  }

  // Two writes, one before and one after it begins; `ZCUBE_TESTS=all`: each in both ways.
  for {
    ((name, write), i) <- overwrites.zipWithIndex
    beforeItBegins <- Seq(true, false)
    if all || i < 2 && beforeItBegins == (i % 2 == 0)
  } test(s"columns set concurrently stay: $name, before it begins: $beforeItBegins") {
    val target = new Target
    val other = new Meanwhile(beforeItBegins, () => target.clusterBy("b"))
    def run() = TransactionExecutionObserver.withObserver(other)(write(rows(10, 13), target))
    if (beforeItBegins && name.contains("clusterBy")) {
      val error = intercept[Exception](run())
      assert(error.getMessage.contains("ZCUBE_CLUSTERING_MISMATCH"))
      assert(target.found === Seq(0L, 1L))
    } else {
      run()
      assert(target.found === Seq(10L, 11L, 12L))
    }
    assert(target.columns === Seq("b"))
  }

  for (beforeItBegins <- false +: Night.only(true))
    test(
      s"saveAsTable fails if another sets columns meanwhile, before it begins: $beforeItBegins") {
      val target = new Target
      val other = new Meanwhile(beforeItBegins, () => target.clusterBy("b"))
      val error = intercept[Exception] {
        TransactionExecutionObserver.withObserver(other)(asTable._2(rows(10, 13), target))
      }
      assert(Causes.of(error).exists(_.isInstanceOf[ConcurrentTransactionException]))
      assert(target.found === Seq(0L, 1L))
      assert(target.columns === Seq("b"))
      asTable._2(rows(10, 13), target)
      assert(target.found === Seq(10L, 11L, 12L))
      assert(target.columns === Seq("b"))
    }

  test("CREATE TABLE LIKE hands the columns to Delta's catalog and to no other") {
    val source = new Target
    val statements = withSettings(
      "spark.sql.catalog.other" -> classOf[InMemoryTableCatalog].getName) {
      for (table <- Seq("like_of_target", "other.ns.like_of_target")) yield {
        val statement = s"CREATE TABLE $table LIKE ${source.name}"
        def parsed = spark.sessionState.sqlParser.parsePlan(statement)
        Try(spark.sessionState.analyzer.execute(parsed)).toOption
          .filter(_.nodeName == "CreateTableLike")
          .map(_.productIterator.collect { case properties: Map[_, _] => properties.size }.toSeq)
      }
    }
    // Older Spark lines have no such statement for other catalogs.
    val found = if (SPARK_VERSION.startsWith("4.2.")) Seq(Seq(1), Seq(0)) else Nil
    assert(statements.flatten === found)
  }
}
