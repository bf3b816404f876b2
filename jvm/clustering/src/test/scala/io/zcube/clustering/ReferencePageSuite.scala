package io.zcube.clustering

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.internal.SQLConf
import org.json4s.JsonAST.{JArray, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.plan.OptimizeOption
import io.zcube.clustering.run.CommitMetrics
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.metrics.ZCubePlugin

/** All of docs/reference.md comes from the sources. `make reference` rewrites them. */
class ReferencePageSuite extends AnyFunSuite {
  import ReferencePageSuite._

  test("docs/reference.md matches the sources") {
    if (sys.env.contains("ZCUBE_WRITE_REFERENCE")) Files.write(Page, page.getBytes(UTF_8))
    assert(Files.readString(Page) == page, "run `make reference`")
  }

  private def page: String = {
    // Settings are registered when the object is initialized.
    val _ = ZCubeConf.Enabled
    val settings = new SQLConf().getAllDefinedConfs.filter(_._1.startsWith("spark.zcube."))
      .sortBy(_._1).map { case (key, default, doc, version) =>
        Seq(s"`$key`", default, s"$doc Since $version.")
      }
    val options = OptimizeOption.all.map(option =>
      Seq(
        s"`${option.name}`",
        option.values,
        s"${option.meaning} Default: ${option.default}."))
    val errors = conditions.flatMap { case (name, condition) =>
      val JString(state) = condition \ "sqlState"
      val special = condition \ "subClass" match {
        case JObject(subclasses) =>
          subclasses.map { case (of, subclass) => Seq(s"$name.$of", state, messageOf(subclass)) }
        case _ => Nil
      }
      Seq(name, state, messageOf(condition)) +: special
    }
    val paragraphs = Seq(
      "# Reference",
      "`make reference` generates this page from the sources.",
      "## Options of OPTIMIZE",
      "`OPTIONS ('key' = 'value', …)` apply to one statement. An unknown option, an option given twice and an invalid value are rejected by name.",
      table(Seq("option", "values", "meaning"), options),
      "## Settings",
      "Set them per session, with `SET` or `spark.conf`. Delta's own settings [keep their meaning](zorder.md#settings).",
      table(Seq("setting", "default", "meaning"), settings),
      "## History",
      "What `DESCRIBE HISTORY` shows for an OPTIMIZE in addition to Delta's own entries: whole numbers in `operationMetrics`, everything else in `operationParameters`. Quality is left out if the table has more than 100,000 files.",
      table(Seq("name", "meaning"), described(CommitMetrics.described)),
      "## Gauges",
      "With `spark.plugins=io.zcube.sql.metrics.ZCubePlugin`, [Spark's metrics system](operating.md#what-to-watch) has these values of the driver. Counts and bytes are sums over all runs since it started.",
      table(Seq("gauge", "meaning"), described(ZCubePlugin.described)),
      "## Errors",
      "An error's condition and SQLSTATE don't change; its message may. Values replace the names in angle brackets. Where a condition has a dot, its message follows that of the condition before it, and code should compare that part alone.",
      table(Seq("condition", "SQLSTATE", "message"), errors),
      "## Grammar",
      "The rules of ZCube's parser, as ANTLR reads them; [SQL](sql.md) explains the statements. A statement that matches none of the first five forms goes to Spark and Delta unchanged, and so does the rest of an OPTIMIZE.",
      s"```antlr\n$grammar\n```"
    )
    paragraphs.map(wrapped).mkString("", "\n\n", "\n")
  }
}

object ReferencePageSuite {
  private val Page: Path = Paths.get("docs", "reference.md")

  private def conditions: Seq[(String, JObject)] =
    Using.resource(Source.fromResource(
      "error/zcube-error-conditions.json",
      classOf[ReferencePageSuite].getClassLoader)(scala.io.Codec.UTF8)) { source =>
      JsonMethods.parse(source.mkString).asInstanceOf[JObject].obj.collect {
        case (name, condition: JObject) => name -> condition
      }
    }

  private def messageOf(condition: JValue): String = {
    val JArray(lines) = condition \ "message"
    // Browsers must not read the message's parameters as tags.
    lines.collect { case JString(line) => line }.mkString(" ").replaceAll("<(\\w+)>", "`<$1>`")
  }

  /** Lines of at most 120 characters, as mdformat breaks them; tables and code stay. */
  private def wrapped(paragraph: String): String =
    if (paragraph.startsWith("|") || paragraph.startsWith("```")) paragraph
    else
      paragraph.split(' ').foldLeft(Seq("")) { (lines, word) =>
        if (lines.last.isEmpty) lines.init :+ word
        else if (lines.last.length + 1 + word.length <= 120) lines.init :+ s"${lines.last} $word"
        else lines :+ word
      }.mkString("\n")

  private def described(names: Seq[(String, String)]): Seq[Seq[String]] =
    names.map { case (name, meaning) => Seq(s"`$name`", meaning) }

  /** The rules of the parser, without those of the lexer and without ANTLR's labels. */
  private def grammar: String = {
    val lines = Files.readAllLines(
      Paths.get("jvm", "spark", "src", "main", "antlr4", "ZCubeSqlBase.g4")).asScala
    lines.dropWhile(_ != "statement").takeWhile(!_.startsWith("OPTIMIZE:"))
      .map(_.replaceAll("\\s+#\\w+$", "")).mkString("\n").trim
  }

  private def table(header: Seq[String], rows: Seq[Seq[String]]): String = {
    def line(cells: Seq[String]) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |")
    (Seq(line(header), line(header.map(_ => "--"))) ++ rows.map(line)).mkString("\n")
  }
}
