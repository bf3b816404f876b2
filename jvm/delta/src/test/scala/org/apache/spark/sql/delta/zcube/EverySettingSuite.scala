package org.apache.spark.sql.delta.zcube

import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.conf.ZCubeConf

/** OPTIMIZE under each setting of Spark and Delta, at another value than its default: the rows and
  * the statistics, read in a session without it, are right. It may fail only where Delta's own
  * OPTIMIZE fails.
  *
  * Many settings at a time; if that fails, its halves. Without `ZCUBE_TESTS=all`, only those that may
  * concern how values are read and written.
  */
class EverySettingSuite extends AnyFunSuite with DeltaSparkSession {
  import EverySettingSuite._

  private lazy val template: Path = {
    val path = folder.resolve("template")
    new EveryType(spark, path.toString).create()
    path
  }

  private lazy val rows: Seq[String] = read(template.toString).rows

  /** Nothing that an earlier session read or set. */
  private def fresh(): SparkSession = {
    DeltaLog.clearCache()
    spark.newSession().asInstanceOf[SparkSession]
  }

  private def read(path: String) = new EveryType(fresh(), path)

  private var copies = 0

  /** What is wrong after OPTIMIZE under these settings; and its error, if it fails. */
  private def outcome(settings: Seq[Setting]): (Seq[String], Option[Throwable]) = {
    copies += 1
    val path = folder.resolve(s"copy-$copies")
    copy(template, path)
    val session = fresh()
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    val error =
      try {
        Sessions.within(session)(
          session.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id, s, ts)").collect())
        None
      } catch { case NonFatal(e) => Some(e) }
    val same = read(path.toString).rows == rows
    val untrue = if (error.isEmpty) read(path.toString).untrueStatistics else Nil
    deleteAll(path)
    (untrue ++ Option.unless(same)("other rows"), error)
  }

  /** The settings of a group with which something is wrong. */
  private def wrong(group: Seq[Setting]): Seq[String] = outcome(group) match {
    case (Nil, None) => Nil
    case (Nil, Some(error)) if group.size == 1 =>
      val ofDelta = outcome(group :+ (ZCubeConf.Enabled.key -> "false"))._2
      Option.unless(ofDelta.nonEmpty)(s"${group.head}: $error").toSeq
    case (untrue, _) if group.size == 1 => Seq(s"${group.head}: ${untrue.mkString(", ")}")
    case _ =>
      val (one, other) = group.splitAt(group.size / 2)
      wrong(one) ++ wrong(other)
  }

  /** Each setting that a session can change, at one value or several. */
  private def all: Seq[Setting] = {
    // Delta's are registered when it is loaded.
    DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS.key: Unit
    val conf = spark.newSession().asInstanceOf[SparkSession].sessionState.conf
    for {
      entry <- entries.sortBy(_.key)
      if spark.conf.isModifiable(entry.key) && !Unrelated.exists(entry.key.startsWith)
      now = Try(String.valueOf(conf.getConfString(entry.key))).getOrElse(entry.defaultValueString)
      value <- valuesBeside(now, entry.key)
      if Try(fresh().conf.set(entry.key, value)).isSuccess
    } yield entry.key -> value
  }

  /** Also those that aren't documented. On Spark 4.0, the method is private. */
  private def entries: Seq[ConfigEntry[_]] = {
    val method = SQLConf.getClass.getDeclaredMethod("getConfigEntries")
    method.setAccessible(true)
    method.invoke(SQLConf).asInstanceOf[java.util.Collection[ConfigEntry[_]]].asScala.toSeq
  }

  private def valuesBeside(now: String, key: String): Seq[String] = now match {
    case "true" => Seq("false")
    case "false" => Seq("true")
    case number if number.matches("-?\\d+b?") => if (Night.all) Seq("1") else Nil
    case _ =>
      // The error has the values that there are.
      val error = Try(fresh().conf.set(key, "?")).failed.toOption.map(_.getMessage)
      error.flatMap(OneOf.findFirstMatchIn(_)).toSeq
        .flatMap(_.group(1).split(", ")).map(_.replace("'", "")).filter(_ != now)
  }

  test("rows and statistics are right whatever is set") {
    assert(outcome(Nil) == (Nil, None))
    val chosen = all.filter { case (key, _) => Night.all || OfValues.exists(key.contains) }
    // Values of one setting are in different groups.
    val rounds =
      chosen.groupBy(_._1).values.flatMap(_.zipWithIndex).groupBy(_._2).toSeq.sortBy(_._1)
    val groups = rounds.flatMap(_._2.map(_._1).toSeq.sorted.grouped(if (Night.all) 16 else 64))
    info(s"${chosen.size} settings in ${groups.size} groups")
    assert(groups.flatMap(wrong) == Nil)
  }
}

private object EverySettingSuite {

  private type Setting = (String, String)

  private val OneOf = "should be one of ([^.]*)".r

  /** Parts of names. */
  private val OfValues =
    Seq(
      "parquet",
      "legacy",
      "files.",
      "stats",
      "imestamp",
      "har",
      "ansi",
      "kipping",
      "caseSensitive")

  /** Of other commands, and ZCube's own. */
  private val Unrelated = Seq(
    "spark.zcube.",
    // Fails with Delta's OPTIMIZE, too.
    "spark.sql.analyzer.maxIterations",
    "spark.sql.analyzer.singlePassResolver.enabled",
    "spark.sql.runSQLOnFiles",
    // Whatever has row ids needs them.
    "spark.databricks.delta.stats.collect",
    // Two codecs aren't in Spark's distribution.
    "spark.sql.parquet.compression.codec",
    // A task for each byte.
    "spark.sql.files.maxPartitionBytes"
  ) ++ Seq(
    "hive",
    "streaming",
    "thriftserver",
    "execution.arrow",
    "execution.pyspark",
    "execution.python",
    "execution.pandas",
    "ui",
    "pyspark",
    "python",
    "scripting",
    "artifact",
    "csv",
    "xml",
    "json",
    "avro",
    "orc",
    "repl",
    "debug",
    "connect",
    "view",
    "functionC"
  ).map("spark.sql." + _)
}
