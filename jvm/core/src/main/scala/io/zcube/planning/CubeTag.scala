package io.zcube.planning

/** What a file's tags say of the ZCube that it belongs to.
  *
  * @param id      one per ZCube
  * @param matches whether the cube was laid out by the columns and the curve that are now asked for
  */
final case class CubeTag(id: String, matches: Boolean)
