package io.zcube.planning

/** What the table's log says of one data file; all that planning looks at.
  *
  * @param path         names the file: a URI, absolute or from the table's folder on
  * @param bytes        bytes of the rows that are not deleted by a deletion vector
  * @param rows         live rows, where statistics tell
  * @param deletedShare of the file's rows, 0 to 1
  * @param cube         the ZCube that the file is tagged with
  * @param ranges       the file's extent in the clustering columns
  * @param selected     whether the user's WHERE takes the file in
  * @param partition    of the table that the file is in; empty if there are none
  * @param deletedBytes of the rows that are deleted; a guess by their number
  * @param deletedRows  how many they are; None if the file has no deletion vector
  */
final case class DataFile(
    path: String,
    bytes: Long,
    rows: Option[Long] = None,
    deletedShare: Double = 0.0,
    cube: Option[CubeTag] = None,
    ranges: KeyRanges = KeyRanges.Unknown,
    selected: Boolean = true,
    partition: Map[String, String] = Map.empty,
    deletedBytes: Long = 0,
    deletedRows: Option[Long] = None) {

  /** Bytes of the file. */
  def storedBytes: Long = bytes + deletedBytes
}

/** What a file's tags say of the ZCube that it belongs to.
  *
  * @param id          one per ZCube
  * @param matches     whether the cube was laid out just as new ones are to be: by the same columns,
  *                    curve, weights and workload
  * @param sameColumns whether it was by the same columns at least
  */
final case class CubeTag(id: String, matches: Boolean, sameColumns: Boolean) {
  require(sameColumns || !matches, s"cube $id matches, but has other columns")
}

object CubeTag {

  /** A cube laid out just as new ones are to be, or by other columns. */
  def apply(id: String, matches: Boolean): CubeTag = CubeTag(id, matches, matches)
}
