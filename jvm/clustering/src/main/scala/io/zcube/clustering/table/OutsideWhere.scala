package io.zcube.clustering.table

import io.zcube.planning.CubeRest

/** Summary of the files that a WHERE excludes.
  *
  * @param files number of excluded files
  * @param cubes the excluded part of each cube that WHERE splits, by id
  */
final case class OutsideWhere(files: Long, cubes: Map[String, CubeRest])

object OutsideWhere {

  val Nothing: OutsideWhere = OutsideWhere(0, Map.empty)
}
