package io.zcube.planning

/** The files that one clustering job wrote and that are still in good order. */
final case class ZCube(id: String, files: Seq[DataFile]) {
  val bytes: Long = files.iterator.map(_.bytes).sum
  lazy val ranges: KeyRanges = KeyRanges.union(files.map(_.ranges))
}

/** The files of a cube that WHERE leaves out. They count for the cube's size, and that is all: planning
  * need not know them one by one, of which there may be a million.
  *
  * @param bytes of the rows that are not deleted
  * @param rows  live rows, if statistics tell of every file
  */
final case class CubeRest(files: Long, bytes: Long, rows: Option[Long])

object CubeRest {
  val Nothing: CubeRest = CubeRest(0, 0, Some(0))
}
