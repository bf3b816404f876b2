package org.apache.spark.sql.delta.zcube.commands

import java.io.File
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkFiles
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.storage.CacheId
import org.scalatest.funsuite.AnyFunSuite

/** ZCube's jobs run in a clone of the user's session. */
class SessionOfStatementSuite extends AnyFunSuite with DeltaSparkSession {

  override protected def settings: Map[String, String] = Map(
    "spark.sql.legacy.sessionInitWithConfigDefaults" -> "true",
    "spark.sql.files.maxRecordsPerFile" -> "1000")

  private def newTable(name: String, columns: String, clause: String = ""): String = {
    val path = folder.resolve(name).toString
    spark.sql(s"CREATE TABLE delta.`$path` ($columns) USING delta $clause")
    for (start <- Seq(0, 50))
      spark.sql(
        s"INSERT INTO delta.`$path` SELECT id, id % 7 FROM range($start, ${start + 50}, 1, 1)")
    path
  }

  private def newSession(): classic.SparkSession =
    spark.newSession().asInstanceOf[classic.SparkSession]

  private def file(name: String): Path = Files.writeString(folder.resolve(name), "a,b")

  test("artifacts that clients uploaded are freed") {
    val path = newTable("artifacts", "id BIGINT, x BIGINT")
    val user = newSession()
    user.artifactManager.addArtifact(Paths.get("cache/abc"), file("cached"), None)
    user.artifactManager.addArtifact(Paths.get("files/list.csv"), file("list.csv"), None)
    def unpacked: Set[String] = new File(SparkFiles.getRootDirectory()).list.toSet
    val before = unpacked
    for (statement <- Seq(
        s"OPTIMIZE delta.`$path` ZORDER BY (x)",
        s"OPTIMIZE delta.`$path` ZORDER BY (id) OPTIONS ('forecast' = 'true') DRY RUN",
        s"RECOMMEND CLUSTERING delta.`$path` FOR 'x = 3'"
      )) {
      DeltaLog.clearCache()
      Sessions.within(user)(user.sql(statement).collect())
    }
    assert(unpacked == before)
    user.artifactManager.close()
    val left = spark.sparkContext.env.blockManager.getMatchingBlockIds(_.isInstanceOf[CacheId])
    assert(left.isEmpty)
  }

  test("interruptAll ends a statement and auto compaction") {
    val path = newTable("interrupted", "id BIGINT, x BIGINT", "CLUSTER BY (id, x)")
    val user = newSession()
    user.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "2")
    val interrupted = new ConcurrentLinkedQueue[String]
    val interrupting = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit =
        if (job.properties.getProperty("spark.job.description", "").contains("writing")) {
          interrupted.addAll(user.interruptAll().asJava): Unit
        }
    }
    spark.sparkContext.addSparkListener(interrupting)
    try
      for (auto <- Seq("false", "true")) {
        user.conf.set("spark.databricks.delta.autoCompact.enabled", auto)
        interrupted.clear()
        DeltaLog.clearCache()
        // Delta reports a failure of auto compaction in its log only.
        Sessions.within(user) {
          if (auto == "true") {
            user.sql(
              s"INSERT INTO delta.`$path` SELECT id, id FROM range(100, 150, 1, 1)").collect()
          } else intercept[Exception](user.sql(s"OPTIMIZE delta.`$path`").collect())
        }
        assert(!interrupted.isEmpty)
      }
    finally spark.sparkContext.removeSparkListener(interrupting)
    // Both appends, and the one before its compaction.
    assert(spark.read.format("delta").load(path).count() == 150)
    assert(DeltaLog.forTable(spark, path).update().version == 3)
  }

  test("a clone has its session's settings, also where Spark prefers the application's") {
    val user = newSession()
    user.conf.set("spark.sql.files.maxRecordsPerFile", "77")
    user.conf.unset("spark.sql.adaptive.enabled")
    val clone = Sessions.cloneOf(user)
    assert(clone.sessionState.conf.getAllConfs == user.sessionState.conf.getAllConfs)
    assert(user.sessionState.conf.maxRecordsPerFile == 77)
    Sessions.close(clone)
  }

  test("a statement within EXECUTE IMMEDIATE reads as its session") {
    val path = newTable("immediate", "id BIGINT, c CHAR(5)")
    withSettings("spark.databricks.delta.optimize.batchSize" -> "1g") {
      spark.sql(s"EXECUTE IMMEDIATE 'OPTIMIZE delta.`$path` ZORDER BY (id)'").collect()
    }
    assert(spark.read.format("delta").load(path).inputFiles.length == 1)
    assert(spark.read.format("delta").load(path).where("c = '3'").count() == 14)
  }
}
