package org.apache.spark.sql.delta.zcube.auto

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CyclicBarrier, TimeUnit}

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionOperation, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.{AddFile, CommitInfo, Protocol, RemoveFile}
import org.apache.spark.sql.delta.util.FileNames
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.zcube.table.CubeTags
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.clustering.run.Workers

/** Delta's auto compaction on tables that ZCube lays out, and on those that it doesn't. */
class AutoLayoutSuite extends AnyFunSuite with DeltaSparkSession {
  import AutoLayoutSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.databricks.delta.autoCompact.minNumFiles" -> "2",
    "spark.databricks.delta.optimize.maxThreads" -> "1"
  )

  private val all = Night.all

  private val appends = 50

  private def rows(from: Int, to: Int): DataFrame =
    spark.range(from.toLong, to.toLong, 1, 1).selectExpr(
      "id",
      "hash(id) AS a",
      "hash(id + 7) AS b",
      "md5(CAST(id AS STRING)) AS s")

  private def create(path: String, auto: Boolean, clustered: Boolean = true): Unit = spark.sql(
    s"CREATE TABLE delta.`$path` (id BIGINT, a INT, b INT, s STRING) USING delta " +
      (if (clustered) "CLUSTER BY (a, b) " else "") +
      s"TBLPROPERTIES ('delta.autoOptimize.autoCompact' = '$auto')"): Unit

  private def pathOf(name: String): String = folder.resolve(name).toString

  private def append(path: String, from: Int, to: Int): Unit =
    rows(from, to).write.format("delta").mode("append").save(path)

  /** The commits of a table, oldest first. */
  private def commits(path: String): Seq[Commit] = {
    val log = DeltaLog.forTable(spark, path)
    val last = log.update().version
    (0L to last).map { version =>
      val file = FileNames.unsafeDeltaFile(log.logPath, version)
      val actions = log.store
        .read(file, log.newDeltaHadoopConf())
        .map(org.apache.spark.sql.delta.actions.Action.fromJson)
      Commit(
        actions.collectFirst { case info: CommitInfo => info }.get,
        actions.collect { case file: AddFile => file },
        actions.collect { case file: RemoveFile => file })
    }
  }

  private def rewritten(path: String): Long =
    commits(path).filter(_.info.operation == "OPTIMIZE").flatMap(_.removed).flatMap(_.size).sum

  private def ids(path: String): Seq[Long] =
    spark.read.format("delta").load(path).collect().map(_.getAs[Long]("id")).toSeq.sorted

  private def contents(path: String): Seq[String] =
    spark.read.format("delta").load(path).collect().map(_.toString).toSeq.sorted

  /** Appends are not shuffled, and Delta's own plans of its log have no column s. */
  private def compacts(plan: LogicalPlan): Boolean = plan.output.exists(_.name == "s") &&
    plan.exists(node => node.isInstanceOf[RepartitionOperation] || node.isInstanceOf[Sort])

  private def everAdded(path: String): Set[String] =
    commits(path).flatMap(_.added).map(_.path.split('/').last).toSet

  /** The last commit is an OPTIMIZE by ZCube, from auto compaction. */
  private def assertLaidOut(path: String): Assertion = {
    val last = commits(path).last
    assert(last.info.operation === "OPTIMIZE")
    assert(last.info.operationParameters("auto") === "true")
    assert(last.added.nonEmpty)
    assert(last.added.forall(_.getTag(CubeTags.PhysicalColumns).isDefined), "made by Delta")
    assert((last.added ++ last.removed).forall(!_.dataChange))
  }

  if (all) test(s"$appends small appends rewrite no more than an OPTIMIZE after each of them") {
    val size = 200L << 10
    withSettings(
      "spark.databricks.delta.autoCompact.maxFileSize" -> size.toString,
      "spark.databricks.delta.optimize.maxFileSize" -> size.toString) {
      val Seq(auto, explicit) = Seq("auto", "explicit").map(pathOf)
      create(auto, auto = true)
      create(explicit, auto = false)
      (0 until appends).foreach { i =>
        append(auto, i * 500, i * 500 + 500)
        append(explicit, i * 500, i * 500 + 500)
        spark.sql(s"OPTIMIZE delta.`$explicit`").collect()
      }
      val written =
        commits(auto).filter(_.info.operation == "WRITE").flatMap(_.added).map(_.size).sum
      info(s"written $written, rewritten ${rewritten(auto)}, by OPTIMIZE ${rewritten(explicit)}")
      assert(rewritten(auto) > 0)
      assert(rewritten(auto) <= rewritten(explicit))
      assert(ids(auto) === (0L until appends * 500L))
      assert(commits(auto).count(_.info.operation == "OPTIMIZE") ===
        commits(explicit).count(_.info.operation == "OPTIMIZE"))
    }
  }

  /** Each writes to a table with two columns and existing rows. */
  private val writers: Seq[(String, String => Unit)] = Seq[(String, String => Unit)](
    "save" -> (path => append(path, 100, 200)),
    "save of data that was read before" -> { path =>
      val data = rows(100, 200).cache()
      data.count(): Unit
      data.write.format("delta").mode("append").save(path)
      data.unpersist(): Unit
    },
    "writeTo" -> (path => rows(100, 200).writeTo(s"delta.`$path`").append()),
    "INSERT" -> { path =>
      rows(100, 200).createOrReplaceTempView("more")
      spark.sql(s"INSERT INTO delta.`$path` SELECT * FROM more"): Unit
    },
    "INSERT of values" -> (path =>
      spark.sql(s"INSERT INTO delta.`$path` VALUES (100, 1, 2, 'x')"): Unit),
    "INSERT OVERWRITE" -> { path =>
      rows(100, 200).repartition(3).createOrReplaceTempView("more")
      spark.sql(s"INSERT OVERWRITE delta.`$path` SELECT * FROM more"): Unit
    },
    "UPDATE" -> (path => spark.sql(s"UPDATE delta.`$path` SET a = 1 WHERE id < 3"): Unit),
    "DELETE" -> (path => spark.sql(s"DELETE FROM delta.`$path` WHERE id % 2 = 0"): Unit),
    "MERGE" -> { path =>
      rows(50, 150).createOrReplaceTempView("more")
      spark.sql(s"MERGE INTO delta.`$path` t USING more ON t.id = more.id " +
        "WHEN MATCHED THEN UPDATE SET a = 5 WHEN NOT MATCHED THEN INSERT *"): Unit
    },
    "MERGE that only inserts" -> { path =>
      rows(50, 150).createOrReplaceTempView("more")
      spark.sql(s"MERGE INTO delta.`$path` t USING more ON t.id = more.id " +
        "WHEN NOT MATCHED THEN INSERT *"): Unit
    },
    "a stream by path" -> { path =>
      stream(path)(_.option("path", path).start().awaitTermination())
    },
    "a stream by name" -> { path =>
      spark.sql(s"CREATE TABLE sink USING delta LOCATION '$path'")
      try stream(path)(_.toTable("sink").awaitTermination())
      finally spark.sql("DROP TABLE sink"): Unit
    },
    "a batch of a stream" -> { path =>
      val write = (data: DataFrame, _: Long) =>
        data.write.format("delta").mode("append").save(path)
      stream(path)(_.foreachBatch(write).start().awaitTermination())
    }
  ).filter { case (name, _) => all || name == "MERGE" }

  private def stream(path: String)(
      run: org.apache.spark.sql.streaming.DataStreamWriter[Row] => Unit): Unit = {
    val source = s"$path-source"
    append(source, 100, 200)
    val writer = spark.readStream
      .format("delta")
      .load(source)
      .writeStream
      .format("delta")
      .trigger(Trigger.AvailableNow())
      .option("checkpointLocation", s"$path-checkpoint")
    run(writer)
  }

  writers.zipWithIndex.foreach { case ((name, write), i) =>
    test(s"$name: the table is laid out by ZCube") {
      val Seq(path, plain) = Seq(s"writer$i", s"writer$i-plain").map(pathOf)
      Seq(path, plain).foreach { one =>
        create(one, auto = false)
        append(one, 0, 50)
        append(one, 50, 100)
      }
      val key = "delta.autoOptimize.autoCompact"
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('$key' = 'true')")
      Seq(path, plain).foreach(write)
      assertLaidOut(path)
      assert(commits(path).count(_.info.operation == "OPTIMIZE") === 1)
      assert(contents(path) === contents(plain))
    }
  }

  for {
    clustered <- Seq(true, false)
    (explicit, auto) <- Seq((200L << 10) -> (20L << 10), (20L << 10) -> (200L << 10))
    if Night.all || clustered == explicit > auto
  } test(s"files of $explicit bytes stay, clustered: $clustered, auto compaction makes $auto") {
    val path = pathOf(s"sizes-$clustered-$explicit")
    val statement = s"OPTIMIZE delta.`$path`" + (if (clustered) "" else " ZORDER BY (a, b)")
    def live = DeltaLog.forTable(spark, path).update().allFiles.collect().toSeq
    withSettings(
      "spark.databricks.delta.autoCompact.maxFileSize" -> auto.toString,
      "spark.databricks.delta.optimize.maxFileSize" -> explicit.toString) {
      create(path, auto = false, clustered)
      append(path, 0, 20000)
      spark.sql(statement).collect()
      val laidOut = live
      assert(laidOut.size > 3)
      val key = "delta.autoOptimize.autoCompact"
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('$key' = 'true')")
      append(path, 20000, 20050)
      append(path, 20050, 20100)
      assertLaidOut(path)
      assert(laidOut.map(_.path).toSet.subsetOf(live.map(_.path).toSet))
      // Enough for a merge with the large cube, in files small enough for each of the settings.
      rows(20100, 32000).repartition(100).write.format("delta").mode("append").save(path)
      val merged = live
      assert(!laidOut.map(_.path).toSet.subsetOf(merged.map(_.path).toSet))
      if (explicit > auto) {
        val large = merged.map(_.size).filter(_ > explicit / 2)
        assert(large.sum > merged.map(_.size).sum / 2)
      }
      assert(ids(path) === (0L until 32000L))
    }
  }

  test("CREATE TABLE AS SELECT: the table is laid out by ZCube") {
    rows(0, 300).repartition(3).createOrReplaceTempView("more")
    spark.sql("CREATE TABLE made USING delta CLUSTER BY (a, b) TBLPROPERTIES " +
      "('delta.autoOptimize.autoCompact' = 'true') AS SELECT * FROM more")
    val path = DeltaLog.forTable(spark, spark.sessionState.sqlParser.parseTableIdentifier("made"))
      .dataPath.toString
    assertLaidOut(path)
    spark.sql("DROP TABLE made")
  }

  test("after CLUSTER BY NONE, columns of an earlier ZORDER BY no longer count") {
    val path = pathOf("given-up")
    create(path, auto = false, clustered = false)
    append(path, 0, 100)
    for (statement <- Seq(
        s"OPTIMIZE delta.`$path` ZORDER BY (a, b)",
        s"ALTER TABLE delta.`$path` CLUSTER BY (id)",
        s"ALTER TABLE delta.`$path` CLUSTER BY NONE"))
      spark.sql(statement).collect()
    withSettings(
      "spark.databricks.delta.autoCompact.enabled" -> "true",
      "spark.databricks.delta.autoCompact.minNumFiles" -> "2") {
      append(path, 100, 150)
      append(path, 150, 200)
    }
    val last = commits(path).last
    assert(last.info.operation === "OPTIMIZE")
    assert(last.info.operationParameters("zOrderBy") === "\"[]\"")
    assert(last.added.nonEmpty && last.added.forall(_.getTag(CubeTags.PhysicalColumns).isEmpty))
    assert(ids(path) === (0L until 200L))
  }

  test("tables with adaptive metadata are left to Delta") {
    def protocol(features: String*) =
      Protocol(3, 7, Some(features.toSet), Some(features.toSet + "clustering"))
    assert(!AutoLayout.mayLayOut(protocol("catalogManaged", "adaptiveMetadata-preview")))
    assert(!AutoLayout.mayLayOut(protocol("adaptiveMetadata")))
    assert(AutoLayout.mayLayOut(protocol("catalogManaged")))
    assert(AutoLayout.mayLayOut(Protocol(1, 2)))
  }

  test("Delta's auto compaction settings apply: switched off, not enough files") {
    val path = pathOf("off")
    create(path, auto = false)
    append(path, 0, 50)
    append(path, 50, 100)
    withSettings(
      "spark.databricks.delta.autoCompact.enabled" -> "true",
      "spark.databricks.delta.autoCompact.minNumFiles" -> "100") {
      // Once without a count of files, as in Delta.
      append(path, 100, 150)
      append(path, 150, 200)
    }
    assert(commits(path).count(_.info.operation == "OPTIMIZE") === 1)
    withSettings("spark.databricks.delta.autoCompact.enabled" -> "true")(append(path, 200, 250))
    withSettings("spark.databricks.delta.autoCompact.enabled" -> "false")(append(path, 250, 300))
    assert(commits(path).count(_.info.operation == "OPTIMIZE") <= 2)
    assert(commits(path).last.info.operation === "WRITE")
  }

  test("Delta's hook doesn't run as well, with or without reserved partitions") {
    val (reserve, modified) =
      ("reservePartitions.enabled" -> "false", "modifiedPartitionsOnly.enabled" -> "false")
    (Seq(reserve, modified) +: Night.only(Seq(reserve), Seq(modified))).zipWithIndex.foreach {
      case (settings, i) =>
        val path = pathOf(s"reserve$i")
        create(path, auto = true)
        withSettings(settings.map { case (key, value) =>
          s"spark.databricks.delta.autoCompact.$key" -> value
        }: _*) {
          (0 until 3).foreach(n => append(path, n * 100, n * 100 + 100))
        }
        val optimized = commits(path).filter(_.info.operation == "OPTIMIZE")
        assert(optimized.nonEmpty)
        assert(optimized.flatMap(_.added).forall(_.getTag(CubeTags.PhysicalColumns).isDefined))
    }
  }

  test("spark.zcube.enabled=false: Delta's own hook runs") {
    val path = pathOf("disabled")
    create(path, auto = true)
    withSettings("spark.zcube.enabled" -> "false") {
      append(path, 0, 100)
      append(path, 100, 200)
    }
    val last = commits(path).last
    assert(last.info.operation === "OPTIMIZE")
    assert(last.added.forall(_.getTag(CubeTags.PhysicalColumns).isEmpty))
  }

  // Delta catches only errors that aren't fatal. A write that is committed but fails is repeated.
  for {
    error <- Seq(
      new UnsupportedOperationException("a test's"),
      new OutOfMemoryError("a test's")) ++
      Night.only(new NoClassDefFoundError("a test's"), new StackOverflowError("a test's"))
  } test(s"a ${error.getClass.getSimpleName} keeps the write, and releases the partitions") {
    val path = pathOf(s"failing-${error.getClass.getSimpleName}")
    create(path, auto = true)
    append(path, 0, 100)
    val failed = new AtomicInteger(0)
    val rule = new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = {
        if (compacts(plan)) {
          failed.incrementAndGet(): Unit
          throw error
        }
        plan
      }
    }
    spark.experimental.extraOptimizations = Seq(rule)
    try append(path, 100, 200)
    finally spark.experimental.extraOptimizations = Nil
    assert(failed.get > 0)
    assert(commits(path).last.info.operation === "WRITE")
    assert(ids(path) === (0L until 200L))
    append(path, 200, 300)
    assertLaidOut(path)
  }

  // Delta's own, for comparison, at night.
  for (enabled <- Night.only(true, false))
    test(s"two threads append at the same time, by ZCube: $enabled") {
      val path = pathOf(s"threads-$enabled")
      create(path, auto = true)
      val start = new CyclicBarrier(2)
      withSettings("spark.zcube.enabled" -> enabled.toString) {
        val ends = new Workers("append", 2).map(Seq(0, 1)) { thread =>
          (0 until 4).foreach { n =>
            start.await(PatienceSeconds, TimeUnit.SECONDS): Unit
            val from = (n * 2 + thread) * 100
            append(path, from, from + 100)
          }
        }
        // Appends don't conflict.
        ends.foreach(_.get)
      }
      assert(ids(path) === (0L until 800L))
      val optimized = commits(path).filter(_.info.operation == "OPTIMIZE")
      assert(optimized.nonEmpty)
      assert(optimized.flatMap(_.added).forall(
        _.getTag(CubeTags.PhysicalColumns).isDefined == enabled))
      if (enabled) assert(dataFiles(path) === everAdded(path))
    }

  for (enabled <- true +: Night.only(false))
    test(s"of two compactions at the same time one fails, and no append, by ZCube: $enabled") {
      val path = pathOf(s"conflict-$enabled")
      create(path, auto = true)
      append(path, 0, 100)
      def optimized = commits(path).count(_.info.operation == "OPTIMIZE")
      val before = optimized
      val (met, meeting) = (new AtomicInteger(0), new CyclicBarrier(2))
      val rule = new Rule[LogicalPlan] {
        // By then, both have chosen their files.
        override def apply(plan: LogicalPlan): LogicalPlan = {
          if (compacts(plan) && met.incrementAndGet() <= 2) {
            meeting.await(PatienceSeconds, TimeUnit.SECONDS): Unit
          }
          plan
        }
      }
      spark.experimental.extraOptimizations = Seq(rule)
      try withSettings(
          "spark.zcube.enabled" -> enabled.toString,
          // Otherwise Delta makes the later one leave the table to the earlier.
          "spark.databricks.delta.autoCompact.reservePartitions.enabled" -> "false"
        ) {
          new Workers("append", 2)
            .map(Seq(100, 200))(from => append(path, from, from + 100))
            .foreach(_.get)
        }
      finally spark.experimental.extraOptimizations = Nil
      assert(met.get >= 2)
      assert(optimized === before + 1)
      assert(ids(path) === (0L until 300L))
      if (enabled) assert(dataFiles(path) === everAdded(path))
    }

  if (Night.all) test("a Z-ordered table: small files join its cubes, all others stay") {
    val path = pathOf("zordered")
    create(path, auto = false, clustered = false)
    append(path, 0, 20000)
    append(path, 20000, 21000)
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (b, a) OPTIONS ('curve' = 'hilbert')").collect()
    append(path, 21000, 50000)
    val plain = commits(path).last.added.map(_.path).toSet
    val cube =
      commits(path).filter(_.info.operation == "OPTIMIZE").flatMap(_.added).map(_.path).toSet
    withSettings(
      "spark.databricks.delta.autoCompact.enabled" -> "true",
      "spark.databricks.delta.autoCompact.minFileSize" -> (200L << 10).toString) {
      (0 until 3).foreach(n => append(path, 50000 + n * 100, 50100 + n * 100))
    }
    val auto = commits(path).filter(_.info.operationParameters.get("auto").contains("true"))
    assert(auto.nonEmpty)
    assert(auto.flatMap(_.added).forall(f =>
      f.getTag(CubeTags.PhysicalColumns).contains("""[["b"],["a"]]""") &&
        f.tag(AddFile.Tags.ZCUBE_ZORDER_CURVE).contains("hilbert")))
    assert(auto.flatMap(_.removed).map(_.path).toSet.intersect(plain ++ cube).isEmpty)
    assert(ids(path) === (0L until 50300L))
  }

  if (Night.all) test("a plain table's history and files are the same as with Delta alone") {
    def run(name: String): Seq[(String, Map[String, String], Seq[Long], Seq[Long])] = {
      val path = pathOf(name)
      create(path, auto = true, clustered = false)
      (0 until 4).foreach(n => append(path, n * 100, n * 100 + 100))
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 2 = 0")
      spark.sql(s"UPDATE delta.`$path` SET a = 1 WHERE id = 1")
      spark.sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF 2")
      commits(path).map(c =>
        (
          c.info.operation,
          // Spark's attribute ids keep increasing.
          c.info.operationParameters.map { case (k, v) => k -> v.replaceAll("#[0-9]+L?", "") },
          c.added.map(_.size).sorted,
          c.removed.flatMap(_.size).sorted))
    }
    val ours = run("plain")
    val deltas = withSettings("spark.zcube.enabled" -> "false")(run("plain-delta"))
    assert(ours.map(_._1).contains("OPTIMIZE"))
    assert(ours === deltas)
  }
}

object AutoLayoutSuite {

  /** A timeout, so that a failing test ends. */
  private val PatienceSeconds = 120L

  final case class Commit(info: CommitInfo, added: Seq[AddFile], removed: Seq[RemoveFile])
}
