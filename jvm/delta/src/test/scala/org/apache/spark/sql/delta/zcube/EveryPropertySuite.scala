package org.apache.spark.sql.delta.zcube

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, TableFeature}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.conf.ZCubeConf

/** OPTIMIZE of tables with each property and each feature that Delta has: the rows stay, and the log
  * and the folder look as after Delta's own OPTIMIZE of a copy.
  *
  * Seven seconds for each. Without `ZCUBE_TESTS=all`, only some that concern how files are written, and
  * only one layout.
  */
class EveryPropertySuite extends AnyFunSuite with DeltaSparkSession {
  import EveryPropertySuite._

  private def sql(statement: String): Unit = spark.sql(statement).collect(): Unit

  private def insert(path: Path, from: Int): Unit = sql(
    s"INSERT INTO delta.`$path` SELECT id, CAST(id % 7 AS STRING), date_add(DATE'2024-01-01', " +
      "CAST(id AS INT)), named_struct('k', CAST(id AS INT)), CAST(id % 2 AS INT) " +
      s"FROM range($from, ${from + 50})")

  /** A table with several files in each partition, and a deleted row. None if Delta refuses the property. */
  private def create(layout: String, property: Option[Property]): Option[Path] = {
    val path = newFolder()
    val set = property.fold("") { case (key, value) => s"TBLPROPERTIES ('$key' = '$value')" }
    Try(sql(
      s"CREATE TABLE delta.`$path` (id BIGINT, s STRING, d DATE, n STRUCT<k: INT>, p INT) " +
        s"USING delta $layout $set")).toOption.map { _ =>
      Seq(0, 50).foreach(insert(path, _))
      // Tables that only take appends refuse it.
      if (!property.exists(_._1 == "delta.appendOnly"))
        sql(s"DELETE FROM delta.`$path` WHERE id = 21")
      path
    }
  }

  private def rows(path: Path): Seq[String] = {
    DeltaLog.clearCache()
    spark.read.format("delta").load(path.toString).selectExpr("to_json(struct(*))")
      .collect().map(_.getString(0)).toSeq.sorted
  }

  private def optimize(path: Path, by: String, enabled: Boolean): Unit =
    withSettings(ZCubeConf.Enabled.key -> enabled.toString) {
      DeltaLog.clearCache()
      sql(s"OPTIMIZE delta.`$path` $by")
    }

  /** What the last commit has, and the files in the folder, without what differs from run to run. */
  private def traces(path: Path): Set[String] = {
    val log = walk(path.resolve("_delta_log"))
    val commit =
      log.filter(_.getFileName.toString.matches("\\d+\\.json")).maxBy(_.getFileName.toString)
    val entries = Files.readAllLines(commit).asScala.flatMap(line => flat("", Json.readTree(line)))
      .filterNot(entry => OfZCube.exists(entry.startsWith))
    (entries ++ walk(path).map(file => form(path.relativize(file).toString))).toSet
  }

  private def flat(name: String, node: JsonNode): Seq[String] =
    if (node.isObject)
      node.properties().asScala.toSeq.flatMap(f => flat(s"$name/${f.getKey}", f.getValue))
    else if (name.endsWith("/stats"))
      flat(name, Json.readTree(node.asText)).map(_.takeWhile(_ != '='))
    else Seq(s"$name = ${form(node.asText)}")

  /** How a table that ZCube wrote twice differs from one that Delta wrote. */
  private def differences(
      layout: String,
      by: String,
      property: Option[Property]): Option[Set[String]] =
    create(layout, property).map { one =>
      val other = copyOf(one)
      val before = rows(one)
      def written(path: Path, enabled: Boolean): Set[String] = {
        optimize(path, by, enabled)
        val first = traces(path)
        assert(rows(path) == before, s"$property")
        insert(path, 100)
        optimize(path, by, enabled)
        first ++ traces(path)
      }
      val (mine, deltas) = (written(one, enabled = true), written(other, enabled = false))
      assert(rows(one) == rows(other), s"$property")
      Seq(one, other).foreach(deleteAll)
      (mine -- deltas).map("+ " + _) ++ (deltas -- mine).map("- " + _)
    }

  /** Each with another value than its default. */
  private def properties: Seq[Property] = {
    val all = DeltaConfigs.getAllConfigs.values.toSeq.sortBy(_.key).flatMap { config =>
      val values = Values.getOrElse(
        config.key.stripPrefix("delta."),
        config.defaultValue match {
          case "true" => Seq("false")
          case "false" | null => Seq("true")
          case _ => Nil
        })
      values.map(config.key -> _)
    }
    val features = TableFeature.allSupportedFeaturesMap.keys.toSeq.sorted
      .map(feature => s"delta.feature.$feature" -> "supported")
    (all ++ features).filter { case (key, _) => Night.all || OfFiles.exists(key.contains) }
  }

  private val layouts = Seq("CLUSTER BY (id, s)" -> "", "PARTITIONED BY (p)" -> "ZORDER BY (id, s)")

  for ((layout, by) <- if (Night.all) layouts else layouts.take(1))
    test(s"as Delta's with each property, $layout") {
      val usual = differences(layout, by, None).get
      val found = properties.map(property => property -> differences(layout, by, Some(property)))
      info(s"${found.size} properties, ${found.count(_._2.isEmpty)} refused by Delta")
      assert(usual == Set.empty)
      assert(found.count(_._2.nonEmpty) >= 2)
      val unlike = found.map { case (property, of) => property -> of.getOrElse(Set.empty) }
      assert(unlike.filter(_._2.nonEmpty) == Nil)
    }
}

private object EveryPropertySuite {

  private type Property = (String, String)

  private val Json = new ObjectMapper()

  /** What ZCube says more than Delta, or measures. */
  private val OfZCube =
    Seq(
      "/commitInfo/operationParameters",
      "/commitInfo/operationMetrics",
      "/add/tags/ZCUBE_",
      "/remove/tags/")

  private val Values: Map[String, Seq[String]] = Map(
    "columnMapping.mode" -> Seq("name", "id"),
    "checkpointPolicy" -> Seq("v2"),
    "checkpointInterval" -> Seq("1", "2"),
    "dataSkippingStatsColumns" -> Seq("id,s", "s,n.k,id"),
    "dataSkippingNumIndexedCols" -> Seq("2", "-1"),
    "dataSkippingStringPrefixLength" -> Seq("0", "1"),
    "randomPrefixLength" -> Seq("4"),
    "setTransactionRetentionDuration" -> Seq("interval 1 day")
  )

  /** Parts of names. */
  private val OfFiles = Seq("enableIcebergCompatV3", "randomizeFilePrefixes")

  /** Without numbers and names at random. */
  private def form(text: String): String = text
    .replaceAll("[0-9a-f]{8}-[0-9a-f-]{27}", "U")
    .replaceAll("(^|/)[A-Za-z0-9]{2}/", "$1XX/")
    .replaceAll("(^|/)[A-Za-z0-9]{2}$", "$1XX")
    .replaceAll("[0-9]+", "0")
}
