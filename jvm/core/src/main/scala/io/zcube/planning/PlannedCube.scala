package io.zcube.planning

/** Files that one job rewrites into a new ZCube. */
final case class PlannedCube(files: Seq[PlannedFile]) {

  val bytes: Long = PlannedFile.bytesOf(files)

  /** Bytes that are not well laid out yet. */
  val freshBytes: Long = PlannedFile.bytesOf(files.filter(f => PlannedCube.isFresh(f.reason)))

  /** Fresh bytes per byte written: a limited budget goes to the highest first. */
  def usefulness: Double = freshBytes.toDouble / math.max(1L, bytes)
}

object PlannedCube {
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
