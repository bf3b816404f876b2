package io.zcube.planning

/** Divides rows into files, for tests: of each cell the longest side is cut, at the middle row. */
object HalvedCells {

  /** @param length of a cell's side in a column
    * @param sorted a cell's rows by a column
    */
  def of[T](rows: Array[T], files: Int, columns: Int)(length: (Array[T], Int) => Double)(
      sorted: (Array[T], Int) => Array[T]): Vector[Array[T]] =
    if (files == 1) Vector(rows)
    else {
      val ordered = sorted(rows, (0 until columns).maxBy(length(rows, _)))
      val half = files / 2
      val (low, high) = ordered.splitAt((rows.length.toLong * half / files).toInt)
      of(low, half, columns)(length)(sorted) ++ of(high, files - half, columns)(length)(sorted)
    }
}
