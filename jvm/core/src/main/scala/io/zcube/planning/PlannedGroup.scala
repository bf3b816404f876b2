package io.zcube.planning

/** Files that one job rewrites together, into one ZCube or several.
  *
  * @param cubeBytes the size up to which a cube is filled
  */
final case class PlannedGroup(files: Seq[PlannedFile], cubeBytes: Long) {
  require(cubeBytes > 0, s"cubeBytes must be positive, not $cubeBytes")

  val bytes: Long = PlannedFile.bytesOf(files)

  /** Bytes that are not well laid out yet. */
  val freshBytes: Long = PlannedFile.bytesOf(files.filter(f => PlannedGroup.isFresh(f.reason)))

  /** Fresh bytes per byte written: a limited budget goes to the highest first. */
  def usefulness: Double = freshBytes.toDouble / math.max(1L, bytes)

  /** The number of cubes that it becomes, at most. */
  def cubes: Int = math.max(1L, (bytes + cubeBytes - 1) / cubeBytes).min(Int.MaxValue).toInt

  /** Divides what was written into cubes of about the same size. The order of a layout goes from
    * region to region, so each cube covers a region of its own.
    *
    * Example: four files of equal size, written for a group of two cubes, are two and two.
    *
    * @param written in the layout's order
    */
  def cut[T](written: Seq[T])(weight: T => Long): Seq[Seq[T]] = {
    val total = math.max(1.0, written.iterator.map(weight(_).toDouble).sum)
    val starts = written.iterator.scanLeft(0.0)(_ + weight(_))
    val numbered = written.zip(starts).map { case (file, start) =>
      val middle = start + weight(file) / 2.0
      file -> math.min(cubes - 1, (middle / total * cubes).toInt)
    }
    (0 until cubes).map(cube => numbered.collect { case (file, `cube`) => file })
      .filter(_.nonEmpty)
  }
}

object PlannedGroup {
  private val Fresh: Set[FileReason] = Set(
    FileReason.Fresh,
    FileReason.DeletedRows,
    FileReason.FileSize,
    FileReason.OtherColumns,
    FileReason.Full)

  /** Whether files with that reason are not clustered yet, so that rewriting them helps
    * immediately.
    */
  def isFresh(reason: FileReason): Boolean = Fresh.contains(reason)
}
