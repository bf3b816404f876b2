package io.zcube.sql.simulation

/** In how many files rare rows are, of which a sample shows some: balls in urns (the occupancy problem,
  * Feller 1968, II.5). k rows that are anywhere in M files are expected in M (1 - (1 - 1 / M)^k) of them.
  * So if the sample's k rows are in d files, M is where this is d; many of them in few files are there
  * by an order. Then all of the table's such rows are expected in M (1 - (1 - 1 / M)^(k / share)) files.
  *
  * Examples, with 100 files: 20 rows in 18 of them are those of M = 89. 20 rows in 2 files are
  * those of these 2. If no two rows share a file, M is all files.
  */
private[simulation] object Occupancy {

  /** The chance that a file without a rare row in the sample has one.
    *
    * @param occupied files with a rare row in the sample, at least 1
    * @param files    number of all files
    * @param rows     rare rows in the sample, at least `occupied`
    * @param share    of the table's rows in the sample
    */
  def ofOthers(occupied: Int, files: Int, rows: Int, share: Double): Double =
    if (occupied >= files) 0.0
    else {
      val expected = hit(among(occupied, files, rows), rows / share)
      math.max(0.0, math.min(1.0, (expected - occupied) / (files - occupied)))
    }

  /** M, at most all files. */
  private def among(occupied: Int, files: Int, rows: Int): Double = {
    def tooFew(of: Double) = hit(of, rows.toDouble) < occupied
    if (tooFew(files.toDouble)) files.toDouble
    else {
      var (low, high) = (occupied.toDouble, files.toDouble)
      while (high - low > Precision) {
        val middle = (low + high) / 2
        if (tooFew(middle)) low = middle else high = middle
      }
      high
    }
  }

  private def hit(files: Double, rows: Double): Double =
    files * -math.expm1(rows * math.log1p(-1.0 / files))

  private val Precision = 0.01
}
