package io.zcube.clustering.table

import scala.collection.mutable

import org.apache.spark.unsafe.types.UTF8String

import io.zcube.quality.FileRanges
import io.zcube.sql.simulation.SimulatedFile

/** What metadata says of a table's files: their statistics of some columns, their sizes, their cubes.
  *
  * @param extremes for each column, what is known of each file's minimum and maximum
  * @param cubes    cubes by these columns
  * @param inCubes  bytes of their files
  * @param fresh    bytes of files in no cube
  * @param others   bytes of files in cubes by other columns
  */
final case class ClusteringState(
    files: Int,
    extremes: IndexedSeq[ColumnMinMax],
    cubes: Long,
    inCubes: Long,
    fresh: Long,
    others: Long) {

  /** For each column. */
  val ranges: IndexedSeq[FileRanges] = extremes.map(_.ranges)

  /** Of all files. */
  def bytes: Long = inCubes + fresh + others
}

object ClusteringState {
  import FileStatistics._

  /** Of the files that WHERE picks. */
  def of(
      version: TableVersion,
      columns: Seq[ColumnPath],
      where: WhereClause): ClusteringState =
    summed(
      if (where.picks) version.select(where).statistics(columns, None)
      else version.statistics(columns, withPaths = false))

  /** All files as they are, and as they would be with some of them replaced by others.
    *
    * @param removed paths of those that go
    * @param added   those that come
    */
  def beforeAndAfter(
      version: TableVersion,
      columns: Seq[ColumnPath],
      removed: Set[String],
      added: Seq[SimulatedFile]): (ClusteringState, ClusteringState) = {
    val now = version.statistics(columns, withPaths = true)
    val stay = now.only(row => !removed(row.getString(Path)))
    (summed(now), summed(stay.and(added)))
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
    ClusteringState(files.rows.length, files.extremes, cubes.size.toLong, inCubes, fresh, others)
  }
}
