package io.zcube.planning

import scala.collection.mutable

/** A file and the decision about it, with the reason. */
final case class PlannedFile(file: DataFile, reason: FileReason)

object PlannedFile {

  /** A set for look-ups, cheaper to build than an immutable one. */
  def pathsOf(files: Iterator[PlannedFile]): collection.Set[String] =
    files.map(_.file.path).to(mutable.HashSet)

  def bytesOf(files: Iterable[PlannedFile]): Long = files.iterator.map(_.file.bytes).sum

  /** The number of files for each reason. */
  def counts(files: Iterable[PlannedFile]): Map[String, Int] =
    files.groupMapReduce(_.reason.text)(_ => 1)(_ + _)
}
