package io.zcube.planning

import scala.collection.mutable

/** Files that are rewritten together, into one ZCube or several.
  *
  * @param sizes of its cubes
  * @param overlapping whether its cubes will overlap those of other groups of the plan
  * @param among measures it against the files that it was planned among
  */
final case class PlannedGroup(
    files: Seq[PlannedFile],
    sizes: CubeSizes,
    overlapping: Boolean = false)(among: Extents) {

  val bytes: Long = PlannedFile.bytesOf(files)

  /** How much of each column it covers. The layout cuts columns in proportion, so that the files of
    * groups that are slices aren't slices too. Only groups that are rewritten need it, and it reads
    * the boxes of all files.
    */
  def extents: Seq[Double] = among.of(files)

  /** Bytes that are not well laid out yet. */
  val dueBytes: Long = PlannedFile.bytesOf(dueFiles)

  private def dueFiles = files.filter(f => f.reason.isDue)

  /** Whether it merges cubes with each other or with files that are due. */
  def merges: Boolean =
    files.exists(f => !f.reason.isDue && f.reason != FileReason.Overlaps)

  /** Its files that are due alone, if there are any. */
  def due: Option[PlannedGroup] = {
    val some = dueFiles
    if (some.isEmpty) None
    else if (some.size == files.size) Some(this)
    else Some(part(some, overlapping))
  }

  /** Some of its files. What makes no stable cube is merged with others anyway, so it needs no mark. */
  def part(some: Seq[PlannedFile], overlapping: Boolean): PlannedGroup =
    copy(files = some, overlapping = overlapping && PlannedFile.bytesOf(some) >= sizes.stable)(
      among)

  /** Bytes that are due per byte written: a limited budget goes to the highest first. */
  def usefulness: Double = dueBytes.toDouble / math.max(1L, bytes)

  /** The share of its bytes that are in the layout already and are rewritten only because of FULL: the
    * lowest come first.
    */
  val repeated: Double =
    PlannedFile.bytesOf(files.filter(_.reason == FileReason.Full)).toDouble / math.max(1L, bytes)

  /** The number of cubes that it becomes if the rewrite doesn't change its size. */
  def cubes: Int = sizes.count(bytes)
}

object PlannedGroup {

  def bytesOf(groups: Iterable[PlannedGroup]): Long = groups.iterator.map(_.bytes).sum
}

/** A file and the decision about it, with the reason. */
final case class PlannedFile(file: DataFile, reason: FileReason)

object PlannedFile {

  /** A set for look-ups, cheaper to build than an immutable one. */
  def pathsOf(files: Iterator[PlannedFile]): collection.Set[String] =
    files.map(_.file.path).to(mutable.HashSet)

  def bytesOf(files: Iterable[PlannedFile]): Long = {
    var bytes = 0L
    files.foreach(bytes += _.file.bytes)
    bytes
  }

  /** The number of files for each reason. */
  def counts(files: Iterable[PlannedFile]): Map[String, Int] =
    files.groupMapReduce(_.reason.text)(_ => 1)(_ + _)
}
