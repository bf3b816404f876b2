package io.zcube.clustering.table

import scala.collection.mutable

import org.apache.spark.unsafe.types.UTF8String

import io.zcube.quality.FileRanges
import io.zcube.sql.simulation.SimulatedFile

/** A table's files according to metadata: their statistics for some columns, their sizes, their
  * cubes.
  *
  * @param minMax for each column, each file's minimum and maximum, as far as known
  * @param cubes    cubes by these columns
  * @param inCubes  bytes of their files
  * @param fresh    bytes of files in no cube
  * @param others   bytes of files in cubes by other columns
  */
final case class ClusteringState(
    files: Int,
    minMax: IndexedSeq[ColumnMinMax],
    cubes: Long,
    inCubes: Long,
    fresh: Long,
    others: Long) {

  /** The files' ranges, by column. */
  val ranges: IndexedSeq[FileRanges] = minMax.map(_.ranges)

  /** The bytes of all files. */
  def bytes: Long = inCubes + fresh + others
}

object ClusteringState {
  import FileStatistics._

  /** The state of the files that WHERE selects. */
  def of(
      version: TableVersion,
      columns: Seq[ColumnPath],
      where: WhereClause): ClusteringState =
    summed(
      if (where.picks) version.select(where).statistics(columns, None)
      else version.statistics(columns, withPaths = false))

  /** The ranges of all files, by column, and those after replacing some of the files by others.
    *
    * @param removed paths of the files to remove
    * @param added   the files to add
    */
  def rangesBeforeAndAfter(
      version: TableVersion,
      columns: Seq[ColumnPath],
      removed: Set[String],
      added: Seq[SimulatedFile]): (IndexedSeq[FileRanges], IndexedSeq[FileRanges]) = {
    val now = version.statistics(columns, withPaths = true)
    val stay = now.only(row => !removed(row.getString(Path)))
    (now.minMax.map(_.ranges), stay.and(added).minMax.map(_.ranges))
  }

  private def summed(files: FileStatistics): ClusteringState = {
    val cubes = mutable.Set.empty[UTF8String]
    var inCubes, fresh, others = 0L
    files.rows.foreach { row =>
      val size = row.getLong(Size)
      if (row.getBoolean(OtherColumns)) others += size
      else if (row.isNullAt(CubeId)) fresh += size
      else {
        cubes += row.getUTF8String(CubeId)
        inCubes += size
      }
    }
    ClusteringState(files.rows.length, files.minMax, cubes.size.toLong, inCubes, fresh, others)
  }
}
