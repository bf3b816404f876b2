package io.zcube.planning

import scala.collection.mutable

/** A file and what is to become of it, with the reason. */
final case class PlannedFile(file: DataFile, reason: FileReason)

object PlannedFile {

  /** For look-ups, made without an immutable set's cost. */
  def pathsOf(files: Iterator[PlannedFile]): collection.Set[String] =
    files.map(_.file.path).to(mutable.HashSet)

  def bytesOf(files: Iterable[PlannedFile]): Long = files.iterator.map(_.file.bytes).sum

  /** How many files there are for each reason. */
  def counts(files: Iterable[PlannedFile]): Map[String, Int] =
    files.groupMapReduce(_.reason.text)(_ => 1)(_ + _)
}
