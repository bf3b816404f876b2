package org.apache.spark.sql.delta.zcube

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.catalog.DeltaCatalog
import org.scalatest.{BeforeAndAfterAll, Suite}

import io.zcube.sql.ZCubeSparkSessionExtension
import io.zcube.testing.LocalFiles

/** A local session with both extensions on, and a folder for tables. */
trait DeltaSparkSession extends BeforeAndAfterAll { self: Suite =>

  /** Settings of the suite. */
  protected def settings: Map[String, String] = Map.empty

  protected lazy val folder: Path = Files.createTempDirectory("zcube-tables")

  protected lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config(
      "spark.sql.extensions",
      s"io.delta.sql.DeltaSparkSessionExtension,${classOf[ZCubeSparkSessionExtension].getName}")
    .config("spark.sql.catalog.spark_catalog", classOf[DeltaCatalog].getName)
    .config("spark.databricks.delta.snapshotPartitions", "2")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.warehouse.dir", folder.resolve("warehouse").toString)
    .config("spark.ui.enabled", "false")
    // With so few rows, compiling a plan takes longer than running it. The suites of the module spark
    // hold each expression, interpreted, against its generated code.
    .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    .config("spark.sql.codegen.wholeStage", "false")
    // Each stage of Delta's log replay would be planned anew. The Python tests run with it.
    .config("spark.sql.adaptive.enabled", "false")
    // A stack trace for each function of a DataFrame, and ScalaTest's stacks are deep.
    .config("spark.sql.dataFrameQueryContext.enabled", "false")
    .config(LocalFiles.settings.map { case (key, value) => s"spark.hadoop.$key" -> value })
    .config(settings)
    .getOrCreate()

  /** Runs the body with these settings, and restores those before. */
  protected def withSettings[T](settings: (String, String)*)(body: => T): T = {
    val before = settings.map { case (key, _) => key -> spark.conf.getOption(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach { case (key, value) =>
        value.fold(spark.conf.unset(key))(spark.conf.set(key, _))
      }
  }

  /** The names of the Parquet files in a table's folder, in the log or not. */
  protected def dataFiles(path: String): Set[String] = walk(Paths.get(path))
    .filter(f => f.toString.endsWith(".parquet") && !f.toString.contains("_delta_log"))
    .map(_.getFileName.toString)
    .toSet

  /** Everything in a folder, folders before what is in them. */
  protected def walk(of: Path): Seq[Path] =
    Using.resource(Files.walk(of))(_.iterator().asScala.toVector)

  protected def copy(from: Path, to: Path): Unit =
    walk(from).foreach(f => Files.copy(f, to.resolve(from.relativize(f).toString)))

  private var newFolders = 0

  /** Where nothing is yet. */
  protected def newFolder(): Path = {
    newFolders += 1
    folder.resolve(s"new-$newFolders")
  }

  protected def copyOf(folder: Path): Path = {
    val copied = newFolder()
    copy(folder, copied)
    copied
  }

  protected def deleteAll(of: Path): Unit = walk(of).reverse.foreach(Files.delete)

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sparkContext.setLogLevel("ERROR")
    // A stack trace for each job and each of its RDDs.
    Seq("callSite.short", "callSite.long")
      .foreach(form => spark.sparkContext.setLocalProperty(form, suiteName))
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()
}
