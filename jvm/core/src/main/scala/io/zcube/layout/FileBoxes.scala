package io.zcube.layout

/** A layout whose keys are the numbers of the files. */
trait FileBoxes extends Layout {

  /** For each column, the numbers of the bounds between buckets that the layout cuts at, ascending. Ranks
    * are numbers of buckets among these bounds alone.
    */
  def bounds: IndexedSeq[Array[Int]]
}
