package io.zcube.layout

/** A layout of rows: bucket of each column → rank → one key that says where the row belongs. Rows are
  * cut into files, and sorted inside them, by their keys.
  *
  * Immutable and thread-safe.
  */
trait Layout extends Serializable {

  /** Number of clustering columns. */
  def dimensions: Int

  /** Rank of each bucket of the column; NULL has [[Layout.NullRank]]. */
  def ranks(column: Int): Array[Int]

  /** Key of a point given by its ranks. Keys are not negative.
    *
    * @param point one rank for each column; a layout may use the array as its scratch space
    */
  def keyOf(point: Array[Int]): Long
}

object Layout {

  /** NULLs stand together at the start of each column's scale. */
  val NullRank: Int = 0
}

/** A layout whose keys are the numbers of the files. */
trait FileBoxes extends Layout {

  /** For each column, the numbers of the bounds between buckets that the layout cuts at, ascending. Ranks
    * are numbers of buckets among these bounds alone.
    */
  def bounds: IndexedSeq[Array[Int]]
}
