package io.zcube.sql.sampling

import java.io.File
import java.nio.file.Files

import org.apache.commons.io.FileUtils
import org.apache.spark.sql.{DataFrame, classic}
import org.scalatest.funsuite.AnyFunSuite

/** Samples of files that have the same name in several folders, as Spark's partitioned writes make
  * them.
  */
class PositionedScanSuite extends AnyFunSuite with SamplingSession {

  private val folder = Files.createTempDirectory("zcube-scan").toFile
  private val table = new File(folder, "t")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(0, 100000, 1, 1)
      .selectExpr("concat('a b%', id div 500) p", "id % 500 x")
      .sortWithinPartitions("p", "x").write.partitionBy("p").parquet(table.toString)
  }

  override protected def afterAll(): Unit =
    try FileUtils.deleteDirectory(folder)
    finally super.afterAll()

  private def sampled(rows: DataFrame): Seq[(String, Long)] = {
    assert(
      PositionedScan.of(rows.asInstanceOf[classic.DataFrame].queryExecution.analyzed).isDefined)
    sampled(rows, 10000, "p", "x").rows.map(row => (row.getString(0), row.getLong(1))).toSeq
  }

  private lazy val sample = sampled(spark.read.parquet(table.toString))

  test("rows of files with the same name are sampled individually") {
    val names = FileUtils.listFiles(table, Array("parquet"), true).toArray(Array.empty[File])
    assert(names.length == 200 && names.map(_.getName).distinct.length == 1)
    assert(sample.length == 10000)
    // If only their position decided, 20 values would be sampled, each from every file.
    assert(sample.map(_._2).distinct.length == 500)
    assert(sample.map(_._1).distinct.length == 200)
  }

  test("range ids of rows of files with the same name are even") {
    val ids = spark.read.parquet(table.toString)
      .selectExpr("x", "range_partition_id(x, 50) r").groupBy("r").agg(Map("x" -> "count"))
      .collect().map(_.getLong(1))
    // The exact number is 2000: ten values, each in 200 files.
    assert(ids.length == 50)
    assert(ids.forall(n => n > 1200 && n < 2800), ids.toSeq)
  }

  test("a copy in another folder gives the same sample") {
    val copy = new File(folder, "another folder, 100% like it")
    FileUtils.copyDirectory(table, copy)
    assert(sampled(spark.read.parquet(copy.toString)) == sample)
    assert(sampled(spark.read.parquet(copy.toString + "/")) == sample)
  }

  test("several folders and patterns give the same sample wherever they are") {
    val copy = new File(new File(folder, "deeper"), "down")
    FileUtils.copyDirectory(table, copy)
    def of(root: File) = sampled(
      spark.read.option("basePath", root.toString).parquet(s"$root/p=a b%251", s"$root/p=a b%252*"))
    assert(of(copy) == of(table))
    assert(of(table).length == 6000)
  }
}
