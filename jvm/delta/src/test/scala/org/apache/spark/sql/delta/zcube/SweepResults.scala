package org.apache.spark.sql.delta.zcube

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, StandardOpenOption}

import scala.jdk.CollectionConverters._
import scala.sys.process._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import io.delta.{VERSION => DeltaVersion}
import org.apache.spark.SPARK_VERSION

/** The results of a fault sweep, one kind of run in each line of a file, as JSON.
  *
  * @param mode how much is swept; results of other modes aren't this sweep's
  */
final private[zcube] class SweepResults(file: Path, mode: String) {
  import SweepResults._

  /** The line of a kind on a master, if it was swept with this Spark and Delta. */
  def of(master: String, kind: String): Option[String] =
    if (!Files.exists(file)) None
    else
      Files.readAllLines(file).asScala.find { line =>
        val found = json.readTree(line)
        key(master, kind).forall { case (name, value) => found.path(name).asText == value }
      }

  /** Adds a line. */
  def add(result: Result): Unit = {
    val line = json.writeValueAsString(fields(result)) + "\n"
    val _ =
      Files.write(file, line.getBytes(UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND)
  }

  private def key(master: String, kind: String) = Seq(
    "mode" -> mode,
    "spark" -> SPARK_VERSION,
    "delta" -> DeltaVersion,
    "master" -> master,
    "kind" -> kind)

  private def fields(result: Result) = ordered(
    key(result.master, result.kind) ++ Seq(
      "points" -> result.points,
      "of" -> result.of,
      "ends" -> ordered(result.ends.toSeq.sorted),
      "operations" -> ordered(result.operations.toSeq.sorted),
      "seconds" -> result.seconds,
      "cpuSeconds" -> result.cpuSeconds,
      "commit" -> Try("git describe --always --dirty".!!.trim).getOrElse("")
    ))

  private def ordered(pairs: Seq[(String, Any)]) = {
    val map = new java.util.LinkedHashMap[String, Any]
    pairs.foreach { case (key, value) => map.put(key, value) }
    map
  }
}

private[zcube] object SweepResults {
  private val json = new ObjectMapper

  /** What was swept of a kind of run.
    *
    * @param points     operations that failed, each in one way
    * @param of         all operations in all ways
    * @param ends       how the runs ended, and how many of them
    * @param operations the operations of a run without faults
    */
  final case class Result(
      master: String,
      kind: String,
      points: Int,
      of: Int,
      ends: Map[String, Int],
      operations: Map[String, Int],
      seconds: Long,
      cpuSeconds: Long) {

    def text: String = {
      def list(of: Map[String, Int], separator: String) =
        of.toSeq.sorted.map { case (name, n) => s"$n $name" }.mkString(separator)
      s"$points points of $of swept: ${list(ends, "; ")}; operations: ${list(operations, ", ")}" +
        s"; $seconds s, $cpuSeconds CPU s"
    }
  }
}
