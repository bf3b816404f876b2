package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Partitions that share a job and a commit. */
class SharedCommitSuite extends AnyFunSuite with DeltaSparkSession {

  private val values =
    Seq("a b", "a%20b", "a+b", "x/y=z", "é", "__HIVE_DEFAULT_PARTITION__x", "'q'")

  private def make(name: String): String = {
    val path = folder.resolve(name).toString
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, x BIGINT, p STRING) USING delta " +
      "PARTITIONED BY (p)")
    val cases = values.zipWithIndex.map { case (value, i) =>
      s"WHEN $i THEN '${value.replace("'", "\\'")}'"
    }.mkString(" ")
    for (start <- Seq(0L, 500L))
      spark.range(start, start + 500, 1, 2)
        .selectExpr("id", "id * 7919 % 101 AS x", s"CASE id % ${values.size + 1} $cases END AS p")
        .write.format("delta").mode("append").save(path)
    path
  }

  private def rows(path: String): Set[String] =
    spark.read.format("delta").load(path).collect().map(_.toString).toSet

  private def check(path: String): Assertion = {
    val before = rows(path)
    assert(before.size == 1000)
    val log = DeltaLog.forTable(spark, path)
    val version = log.update().version
    val result = spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id, x)").head()
    assert(result != null)
    val now = log.update()
    assert(now.version == version + 1)
    // As after Delta's.
    assert(
      spark.conf.get("spark.databricks.delta.lastCommitVersionInSession") == now.version.toString)
    assert(rows(path) == before)
    val files = now.allFiles.collect()
    assert(files.length == values.size + 1)
    assert(files.map(_.tags("ZCUBE_ID")).distinct.length == files.length)
    assert(files.forall(file => !file.tags.keys.exists(_.startsWith("zcube"))))
    assert(files.map(_.partitionValues("p")).toSet == values.toSet + null)
    assert(files.map(_.numPhysicalRecords.get).sum == 1000)
  }

  test("small partitions share commits if their folders' names are escaped") {
    check(make("escaped"))
  }

  if (Night.all) test("small partitions of a shallow clone share commits") {
    val source = make("source")
    val clone = folder.resolve("clone").toString
    spark.sql(s"CREATE TABLE delta.`$clone` SHALLOW CLONE delta.`$source`")
    check(clone): Unit
    assert(rows(source).size == 1000)
  }
}
