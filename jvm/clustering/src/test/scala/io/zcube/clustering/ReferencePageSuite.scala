package io.zcube.clustering

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.internal.SQLConf
import org.json4s.JsonAST.{JArray, JObject, JString}
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.plan.OptimizeOptions
import io.zcube.sql.conf.ZCubeConf

/** The tables of docs/reference.md come from the sources. `make reference` rewrites them. */
class ReferencePageSuite extends AnyFunSuite {
  import ReferencePageSuite._

  test("docs/reference.md matches the settings and errors in the sources") {
    if (sys.env.contains("ZCUBE_WRITE_REFERENCE")) Files.write(Page, page.getBytes(UTF_8))
    assert(Files.readString(Page) == page, "run `make reference`")
  }

  test("the guide's table lists every option of OPTIMIZE") {
    val lines = Files.readAllLines(Paths.get("docs", "guide.md")).asScala
    val named = lines.dropWhile(!_.startsWith("| option |")).drop(2).takeWhile(_.startsWith("|"))
      .flatMap(_.split('|')(1).split(',').map(_.trim.stripPrefix("`").stripSuffix("`")))
    assert(named.sorted == OptimizeOptions.names.sorted)
  }

  private def page: String = {
    // Settings are registered when the object is initialized.
    val _ = ZCubeConf.Enabled
    val settings = new SQLConf().getAllDefinedConfs.filter(_._1.startsWith("spark.zcube."))
      .sortBy(_._1).map { case (key, default, doc, version) =>
        Seq(s"`$key`", default, doc, version)
      }
    val errors = conditions.map { case (name, condition) =>
      val JArray(lines) = condition \ "message"
      val JString(state) = condition \ "sqlState"
      val message = lines.collect { case JString(line) => line }.mkString(" ")
      // Browsers must not read the message's parameters as tags.
      Seq(name, state, message.replaceAll("<(\\w+)>", "`<$1>`"))
    }
    val paragraphs = Seq(
      "# Reference",
      "`make reference` generates this page from the sources.",
      "## Settings",
      "Set them per session, with `SET` or `spark.conf`. Delta's own settings keep their meaning: see the [guide](guide.md).",
      table(Seq("setting", "default", "meaning", "since"), settings),
      "## Errors",
      "An error's condition and SQLSTATE don't change; its message may. Values replace the names in angle brackets.",
      table(Seq("condition", "SQLSTATE", "message"), errors)
    )
    paragraphs.mkString("", "\n\n", "\n")
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

  private def table(header: Seq[String], rows: Seq[Seq[String]]): String = {
    def line(cells: Seq[String]) = cells.map(_.replace("|", "\\|")).mkString("| ", " | ", " |")
    (Seq(line(header), line(header.map(_ => "--"))) ++ rows.map(line)).mkString("\n")
  }
}
