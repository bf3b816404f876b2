package io.zcube.layout

/** A layout of rows: bucket of each column → rank → a key that determines where the row belongs.
  * Rows are divided into files, and sorted inside them, by their keys.
  *
  * Immutable and thread-safe.
  */
trait Layout extends Serializable {

  /** Number of clustering columns. */
  def dimensions: Int

  /** Rank of each bucket of the column; NULL has [[Layout.NullRank]]. */
  def ranks(column: Int): Array[Int]

  /** Key of a point, given its ranks. Keys are not negative.
    *
    * @param point one rank for each column; a layout may use the array as its scratch space
    */
  def keyOf(point: Array[Int]): Long
}

object Layout {

  /** NULLs are at the start of each column's scale. */
  val NullRank: Int = 0
}

/** A layout whose keys are the numbers of the files. */
trait FileBoxes extends Layout {

  /** For each column, the indexes of the bounds between buckets that the layout cuts at, ascending.
    * Ranks count only these bounds.
    */
  def bounds: IndexedSeq[Array[Int]]
}

/** A layout, and the positions where its keys are cut into files.
  *
  * @param files boxes with the same numbers as the files, if the layout has them: finding a row's
  *   box takes less work than finding its key
  */
final case class LayoutResult(layout: Layout, cuts: CutPoints, files: Option[FileBoxes] = None)
