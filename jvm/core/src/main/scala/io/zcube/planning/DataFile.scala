package io.zcube.planning

/** What the table's log says of one data file; all that planning looks at.
  *
  * @param path         names the file
  * @param bytes        bytes of the rows that are not deleted by a deletion vector
  * @param rows         live rows, where statistics tell
  * @param deletedShare of the file's rows, 0 to 1
  * @param cube         the ZCube that the file is tagged with
  * @param ranges       the file's extent in the clustering columns
  * @param selected     whether the user's WHERE takes the file in
  */
final case class DataFile(
    path: String,
    bytes: Long,
    rows: Option[Long] = None,
    deletedShare: Double = 0.0,
    cube: Option[CubeTag] = None,
    ranges: KeyRanges = KeyRanges.Unknown,
    selected: Boolean = true)

/** What a file's tags say of the ZCube that it belongs to.
  *
  * @param id      one per ZCube
  * @param matches whether the cube was laid out by the columns and the curve that are now asked for
  */
final case class CubeTag(id: String, matches: Boolean)
