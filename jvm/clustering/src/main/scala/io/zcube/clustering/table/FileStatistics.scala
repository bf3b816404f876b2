package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, NullType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.concurrent.InParallel
import io.zcube.sql.simulation.SimulatedFile

/** A table's metadata about files: for each file a row with the path, the size, the cube, and the
  * statistics of some columns.
  *
  * The fields of a row: the path (empty if not requested), bytes, the id of the cube (NULL for
  * none), whether the file is laid out by other columns, rows; then for each column the minimum,
  * the maximum and the count of NULLs. Unknown values are NULL.
  *
  * @param rows in Spark's internal form, without conversion and independent of time zones
  * @param types of all fields; NullType if a column has no statistics at all
  */
final class FileStatistics(val rows: Array[InternalRow], types: IndexedSeq[DataType]) {
  import FileStatistics._

  def only(keep: InternalRow => Boolean): FileStatistics =
    new FileStatistics(rows.filter(keep), types)

  /** Adds files that are not written yet. */
  def and(more: Seq[SimulatedFile]): FileStatistics = {
    val simulated = more.map { file =>
      val perColumn = (FirstColumn until types.size by PerColumn).zipWithIndex.flatMap {
        // Files have no statistics for columns for which the table keeps none.
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

  /** Splits the files into groups. */
  def by[K](key: InternalRow => K): Map[K, FileStatistics] =
    rows.groupBy(key).map { case (k, members) => k -> new FileStatistics(members, types) }

  /** For each column, the files' minima and maxima, as far as known. */
  def minMax: IndexedSeq[ColumnMinMax] =
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

  /** The ordinal of a column's minimum; the maximum and the count of NULLs follow it. */
  def placeOf(column: Int): Int = FirstColumn + column * PerColumn
}
