package io.zcube.planning

/** A data file according to the table's log, with everything that planning needs.
  *
  * @param path the file's URI, absolute or relative to the table's folder
  * @param bytes        bytes of the rows that are not deleted by a deletion vector
  * @param rows         live rows, if statistics are available
  * @param deletedShare of the file's rows, 0 to 1
  * @param cube         the ZCube that the file is tagged with
  * @param ranges       the file's ranges in the clustering columns
  * @param partition    the file's partition; empty if the table has none
  * @param deletedBytes bytes of the deleted rows, estimated from their number
  * @param deletedRows  number of deleted rows; None if the file has no deletion vector
  */
final case class DataFile(
    path: String,
    bytes: Long,
    rows: Option[Long] = None,
    deletedShare: Double = 0.0,
    cube: Option[CubeTag] = None,
    ranges: KeyRanges = KeyRanges.Unknown,
    partition: Map[String, String] = Map.empty,
    deletedBytes: Long = 0,
    deletedRows: Option[Long] = None) {

  /** Bytes of the file. */
  def storedBytes: Long = bytes + deletedBytes
}

object DataFile {

  def bytesOf(files: Iterable[DataFile]): Long = {
    // A collection's sum makes an object of each number.
    var bytes = 0L
    files.foreach(bytes += _.bytes)
    bytes
  }

  /** None if a file lacks statistics. */
  def rowsOf(files: Iterable[DataFile]): Option[Long] =
    Option.when(files.forall(_.rows.isDefined))(files.iterator.map(_.rows.get).sum)
}

/** The ZCube that a file belongs to, according to its tags.
  *
  * @param id          the ZCube's id
  * @param matches whether the cube has the layout of new cubes: the same columns, curve, weights
  *   and workload
  * @param sameColumns whether it has at least the same columns
  * @param overlapping the job that made it, if several made cubes that overlap
  */
final case class CubeTag(
    id: String,
    matches: Boolean,
    sameColumns: Boolean,
    overlapping: Option[String] = None) {
  require(sameColumns || !matches, s"cube $id matches, but has other columns")
}

object CubeTag {

  /** A cube with the layout of new cubes, or with other columns. */
  def apply(id: String, matches: Boolean): CubeTag = CubeTag(id, matches, matches)
}
