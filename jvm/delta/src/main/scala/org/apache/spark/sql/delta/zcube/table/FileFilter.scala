package org.apache.spark.sql.delta.zcube.table

import java.util.Arrays

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.functions.{col, lit, udf}
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.sql.sampling.RowHash

/** Selects files of the log by path on the executors, so that no data of other files comes to the
  * driver. It uses only hashes, 8 bytes per file: once in 2^64 it selects a file too many.
  */
final class FileFilter private (hashes: Array[Long]) extends Serializable {

  /** Selects these files from rows with a column `path`. The optimizer applies this before
    * statistics are read.
    */
  def of(files: DataFrame): DataFrame = files.where(isWanted)

  /** The number of these files. */
  def size: Int = hashes.length

  def contains(path: String): Boolean =
    Arrays.binarySearch(hashes, FileFilter.hashOf(path)) >= 0

  /** Selects all other files. */
  def except(files: DataFrame): DataFrame = files.where(!isWanted)

  /** Selects these files from a snapshot, without their statistics. */
  def filesOf(snapshot: Snapshot): Seq[AddFile] = {
    import org.apache.spark.sql.delta.implicits._
    of(snapshot.allFiles.toDF()).withColumn(
      "stats",
      lit(null).cast("string")).as[AddFile].collect().toSeq
  }

  private def isWanted: Column = udf((path: String) => contains(path)).apply(col("path"))
}

object FileFilter {

  def apply(paths: Iterator[String]): FileFilter = {
    val hashes = paths.map(hashOf).toArray
    Arrays.sort(hashes)
    new FileFilter(hashes)
  }

  private[zcube] def hashOf(path: String): Long = hashOf(UTF8String.fromString(path))

  private[zcube] def hashOf(path: UTF8String): Long = RowHash.ofPath(path)
}
