package org.apache.spark.sql.delta.zcube

import java.nio.file.Path

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Runs a statement under each setting of Spark and Delta, at another value than its default.
  *
  * Many settings at a time; if that fails, its halves. Without `ZCUBE_TESTS=all`, only those that may
  * concern how values are read and written.
  */
abstract private[zcube] class SettingsSweep extends AnyFunSuite with DeltaSparkSession {
  import SettingsSweep._

  /** What is wrong after the statement under these settings; and its error, if it fails. */
  protected def outcome(settings: Seq[Setting]): Result

  /** Whether the statement of Delta alone fails, too. */
  protected def failsWithDelta(settings: Seq[Setting]): Boolean

  /** Makes a table with columns of every type. */
  protected def tableOfEveryType(): Path = {
    val path = newFolder()
    new EveryType(spark, path.toString).create()
    path
  }

  /** A session with these settings, and with nothing that an earlier session read or set. */
  protected def fresh(settings: Seq[Setting] = Nil): SparkSession = {
    DeltaLog.clearCache()
    val session = spark.newSession().asInstanceOf[SparkSession]
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  /** The settings of a group with which something is wrong. */
  private def wrong(group: Seq[Setting]): Seq[String] = outcome(group) match {
    case (Nil, None) => Nil
    case (Nil, Some(error)) if group.size == 1 =>
      Option.unless(failsWithDelta(group))(s"${group.head}: $error").toSeq
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

  /** The settings with which something is wrong. */
  protected def wrong: Seq[String] = {
    val chosen = all.filter { case (key, _) => Night.all || OfValues.exists(key.contains) }
    // Values of one setting are in different groups.
    val rounds =
      chosen.groupBy(_._1).values.flatMap(_.zipWithIndex).groupBy(_._2).toSeq.sortBy(_._1)
    val groups = rounds.flatMap(_._2.map(_._1).toSeq.sorted.grouped(if (Night.all) 16 else 64))
    info(s"${chosen.size} settings in ${groups.size} groups")
    groups.flatMap(wrong)
  }
}

private[zcube] object SettingsSweep {

  type Setting = (String, String)

  private val OneOf = "should be one of ([^.]*)".r

  /** What is wrong, and the error. */
  type Result = (Seq[String], Option[Throwable])

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
