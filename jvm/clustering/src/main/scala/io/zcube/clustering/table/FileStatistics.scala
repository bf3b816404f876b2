package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, NullType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.concurrent.InParallel
import io.zcube.sql.simulation.SimulatedFile

/** What a table's metadata says of files: a row each with the path, the size, the cube, and the
  * statistics of some columns.
  *
  * Places in a row: the path (empty if it wasn't asked for), bytes, the id of the cube (NULL for none),
  * whether the file is laid out by other columns, rows; then for each column the minimum, the maximum
  * and the count of NULLs. What isn't known is NULL.
  *
  * @param rows  in Spark's own form of values: no conversion, and no time zone in the way
  * @param types of all places; NullType where a column has no statistics at all
  */
final class FileStatistics(val rows: Array[InternalRow], types: IndexedSeq[DataType]) {
  import FileStatistics._

  def only(keep: InternalRow => Boolean): FileStatistics =
    new FileStatistics(rows.filter(keep), types)

  /** With files besides that are not written yet. */
  def and(more: Seq[SimulatedFile]): FileStatistics = {
    val simulated = more.map { file =>
      val perColumn = (FirstColumn until types.size by PerColumn).zipWithIndex.flatMap {
        // Files have no statistics of columns that the table keeps none of.
        case (at, _) if types(at) == NullType => Seq[Any](null, null, null)
        case (_, i) => Seq[Any](file.lower(i), file.upper(i), file.nulls(i))
      }
      InternalRow.fromSeq(Seq[Any](
        UTF8String.EMPTY_UTF8,
        0L,
        null,
        false,
        file.rows) ++ perColumn)
    }
    new FileStatistics(rows ++ simulated, types)
  }

  /** The files in groups. */
  def by[K](key: InternalRow => K): Map[K, FileStatistics] =
    rows.groupBy(key).map { case (k, members) => k -> new FileStatistics(members, types) }

  /** For each column, what is known of the files' minima and maxima. */
  def extremes: IndexedSeq[ColumnMinMax] =
    InParallel.map(FirstColumn until types.size by PerColumn) { at =>
      ColumnMinMax.of(rows, types(at), at, at + 1, at + 2, Rows)
    }
}

object FileStatistics {
  val Path = 0
  val Size = 1
  val CubeId = 2
  val OtherColumns = 3
  val Rows = 4
  private val FirstColumn = 5
  private val PerColumn = 3

  /** The place of a column's minimum; the maximum and the count of NULLs come after it. */
  def placeOf(column: Int): Int = FirstColumn + column * PerColumn
}
