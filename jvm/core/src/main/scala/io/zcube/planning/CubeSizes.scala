package io.zcube.planning

/** Sizes of cubes, or of the jobs that make them, in bytes.
  *
  * @param stable a cube of this size is not merged with others
  * @param target a cube or a job is filled up to this
  */
final case class CubeSizes(stable: Long, target: Long) {
  import CubeSizes._

  /** The minimum size of one of several. Files are not divided, so a cube may turn out a little
    * smaller than the others.
    */
  val min: Double = math.max(1L, stable) * Margin

  /** The number of cubes for that many bytes: as few as the target allows, but none so small that
    * it would be merged again.
    *
    * Example: with 100 GB and 150 GB, 160 GB are one cube, 250 GB are two.
    */
  def count(bytes: Long): Int = {
    val byTarget = math.ceil(bytes.toDouble / math.max(1L, target))
    val allStable = math.floor(bytes / min)
    math.max(1.0, math.min(byTarget, allStable)).min(MaxCubes).toInt
  }

  /** Divides files in the order of a layout into cubes of about the same size. A layout goes from
    * region to region, so each cube covers a region of its own.
    *
    * Example: eight files of 50 GB, with 100 GB and 150 GB, are three cubes of 3, 2 and 3.
    *
    * @param files in the layout's order
    * @return no empty cubes
    */
  def cut[T](files: Seq[T])(weight: T => Long): Seq[Seq[T]] = {
    val total = files.iterator.map(weight).sum
    val cubes = count(total)
    var before = 0.0
    val numbered = files.map { file =>
      val middle = before + weight(file) / 2.0
      before += weight(file)
      math.min(cubes - 1, (middle / math.max(1L, total) * cubes).toInt) -> file
    }
    // The numbers ascend.
    numbered.groupBy(_._1).toSeq.sortBy(_._1).map(_._2.map(_._2))
  }
}

object CubeSizes {

  private val Margin = 1.05

  /** Planning reads a tag of each cube, so their number is bounded. */
  private val MaxCubes = 10000.0
}
