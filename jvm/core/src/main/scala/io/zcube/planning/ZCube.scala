package io.zcube.planning

/** The files that one clustering job wrote and that are still in good order. */
final case class ZCube(id: String, files: Seq[DataFile]) {
  val bytes: Long = files.iterator.map(_.bytes).sum
  lazy val ranges: KeyRanges = KeyRanges.union(files.map(_.ranges))
}
