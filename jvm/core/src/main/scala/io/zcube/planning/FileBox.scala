package io.zcube.planning

/** A part of the space of ranks. */
final private[planning] case class Region(low: Array[Double], high: Array[Double])

/** A file's box, as ranks from 0 to 1.
  *
  * @param total bytes of all files
  */
final private[planning] class FileBox(
    val file: DataFile,
    val cube: String,
    val low: Array[Double],
    val high: Array[Double],
    total: Double) {
  val bytes: Long = file.bytes

  private def sides: Seq[Double] = low.toSeq.indices.map(i => high(i) - low(i))

  val reading: Double = sides.sum / low.length

  /** How much wider it is than a cube with its share of the bytes. */
  val spread: Double = reading / math.pow(math.max(1L, bytes) / total, 1.0 / low.length)

  /** Its own box and, if that is far longer in one column than in another, one that includes
    * neighbours on the long sides.
    */
  def regions(neighbours: Int): Seq[Region] = {
    val longest = sides.max
    val wider =
      sides.map(side => if (2 * side < longest) math.min(longest, neighbours * side) else side)
    val own = Region(low, high)
    if (wider == sides) Seq(own)
    else {
      val middles = low.indices.map(middle)
      def ends(sign: Int): Array[Double] =
        middles.zip(wider).map { case (middle, side) => middle + sign * side / 2 }.toArray
      Seq(own, Region(ends(-1), ends(1)))
    }
  }

  def middle(column: Int): Double = (low(column) + high(column)) / 2

  /** The share of the box that is in the region. */
  def within(region: Region): Double = {
    var share = 1.0
    var i = 0
    while (i < low.length && share > 0.0) {
      val inside = math.min(high(i), region.high(i)) - math.max(low(i), region.low(i))
      share *= math.max(0.0, inside) / (high(i) - low(i))
      i += 1
    }
    share
  }
}

private[planning] object FileBox {
  def apply(file: DataFile, cube: String, space: RankSpace, total: Double): FileBox = {
    val (low, high) = space.ranks(file.ranges)
    new FileBox(file, cube, low, high, total)
  }
}

/** The box around several. */
final private[planning] class Hull(dimensions: Int) {
  private val low = Array.fill(dimensions)(1.0)
  private val high = Array.fill(dimensions)(0.0)

  def add(box: FileBox): Unit = {
    var i = 0
    while (i < dimensions) {
      low(i) = math.min(low(i), box.low(i))
      high(i) = math.max(high(i), box.high(i))
      i += 1
    }
  }

  /** What so many files of the same size in it read together, if the longest side is always cut. */
  def readingOf(files: Double): Double = {
    val sides = Array.tabulate(dimensions)(i => high(i) - low(i))
    var left = files
    while (left > 1.0) {
      val longest = sides.indices.maxBy(sides(_))
      sides(longest) /= math.min(2.0, left)
      left /= 2.0
    }
    files * sides.sum / dimensions
  }
}
