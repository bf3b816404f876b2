package org.apache.spark.sql.delta.zcube

import java.net.URI
import java.nio.file.{Files, Path => LocalPath}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.hadoop.ParquetReader
import org.apache.parquet.hadoop.example.GroupReadSupport

/** Reads a table of whole numbers from its JSON commits and its Parquet files, with neither Delta
  * nor Spark: what they cache or skip can't hide a missing row, and it costs milliseconds. Tables
  * with deletion vectors, mapped columns, or a checkpoint after removed commits are not supported.
  */
final private[zcube] class PlainTable(folder: LocalPath) {
  import PlainTable._

  /** The live files, relative to the folder, with partition values. */
  def files: Map[String, Map[String, String]] = {
    val commits = listed(folder.resolve("_delta_log"))
      .filter(_.getFileName.toString.matches("\\d{20}\\.json"))
      .sortBy(_.getFileName.toString)
    val numbers = commits.map(_.getFileName.toString.stripSuffix(".json").toLong)
    require(numbers == numbers.indices.map(_.toLong), s"commits are missing: $numbers")
    commits
      .flatMap(Files.readAllLines(_).asScala)
      .map(json.readTree)
      .foldLeft(Map.empty[String, Map[String, String]]) { (live, action) =>
        val add = action.path("add")
        val remove = action.path("remove")
        if (!add.isMissingNode) live + (name(add) -> values(add.path("partitionValues")))
        else if (!remove.isMissingNode) live - name(remove)
        else live
      }
  }

  /** The values of columns in each row of the live files, in no order.
    *
    * @param number what stands for a partition's value
    * @throws java.io.FileNotFoundException if a live file is missing
    */
  def rows(
      columns: Seq[String],
      number: String => Long =
        _.toLong): Seq[Seq[Long]] = files.toSeq.flatMap { case (file, partition) =>
    val path = new Path(folder.resolve(file).toUri)
    Using.resource(ParquetReader.builder(new GroupReadSupport, path).build()) { reader =>
      Iterator
        .continually(reader.read())
        .takeWhile(_ != null)
        .map((row: Group) =>
          columns.map(c => partition.get(c).map(number).getOrElse(row.getLong(c, 0))))
        .toVector
    }
  }

  private def listed(of: LocalPath): Seq[LocalPath] =
    Using.resource(Files.list(of))(_.iterator().asScala.toVector)
}

private[zcube] object PlainTable {
  private val json = new ObjectMapper

  private def name(action: JsonNode): String = {
    val file = new URI(action.path("path").asText)
    require(!file.isAbsolute && !file.getPath.startsWith("/"), s"an absolute path: $file")
    file.getPath
  }

  private def values(partition: JsonNode): Map[String, String] =
    partition.properties().asScala.map(value => value.getKey -> value.getValue.asText(null)).toMap
}
