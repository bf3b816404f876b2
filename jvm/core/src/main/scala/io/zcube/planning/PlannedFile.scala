package io.zcube.planning

/** A file and what is to become of it, with the reason. */
final case class PlannedFile(file: DataFile, reason: FileReason)

object PlannedFile {

  /** For example `4 fresh, 8 small cube`, the most frequent reason first. */
  def countByReason(files: Iterable[PlannedFile]): String =
    files
      .groupBy(_.reason.text)
      .map { case (reason, of) => (reason, of.size) }
      .toSeq
      .sortBy { case (reason, count) => (-count, reason) }
      .map { case (reason, count) => s"$count $reason" }
      .mkString(", ")
}
