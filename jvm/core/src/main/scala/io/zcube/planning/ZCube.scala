package io.zcube.planning

/** The files of a clustering job that don't need rewriting. */
final case class ZCube(id: String, files: Seq[DataFile]) {
  val bytes: Long = DataFile.bytesOf(files)
  lazy val ranges: KeyRanges = KeyRanges.union(files.map(_.ranges))
}

/** The files of a cube that WHERE excludes. They only count for the cube's size, so planning
  * doesn't need the individual files, of which there may be a million.
  *
  * @param bytes bytes of the rows that are not deleted
  * @param rows  live rows, if every file has statistics
  */
final case class CubeRest(files: Long, bytes: Long, rows: Option[Long])

object CubeRest {
  val Nothing: CubeRest = CubeRest(0, 0, Some(0))
}
