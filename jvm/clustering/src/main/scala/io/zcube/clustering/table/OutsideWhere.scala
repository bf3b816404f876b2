package io.zcube.clustering.table

import io.zcube.planning.CubeRest

/** What is to be known of the files that a WHERE leaves out.
  *
  * @param files how many there are
  * @param cubes for each cube that has files on both sides, by id, what is left out of it
  */
final case class OutsideWhere(files: Long, cubes: Map[String, CubeRest])

object OutsideWhere {

  val Nothing: OutsideWhere = OutsideWhere(0, Map.empty)
}
