package io.zcube.clustering.plan

import io.zcube.planning.Regrouping

/** What a run does with cubes that overlap because several jobs made them. A statement makes two
  * passes ([[io.zcube.clustering.run.OptimizePasses]]).
  */
sealed trait OptimizePass {

  /** Whether it does nothing but regroup. */
  def onlyRegroups: Boolean = false

  /** What it plans, if the settings let it regroup. */
  def regrouping: Regrouping = Regrouping.Now

  /** Whether it leaves a partition alone. */
  def leaves(partition: Map[String, String]): Boolean = false
}

object OptimizePass {

  /** Clusters, and regroups what is clustered already. */
  case object Only extends OptimizePass

  /** Clusters, and leaves all regrouping to the second. */
  case object First extends OptimizePass {
    override def regrouping: Regrouping = Regrouping.Later
  }

  /** Regroups.
    *
    * @param waiting the partitions that it leaves alone
    */
  final case class Second(waiting: Set[Map[String, String]]) extends OptimizePass {
    override def onlyRegroups: Boolean = true
    override def leaves(partition: Map[String, String]): Boolean = waiting(partition)
  }
}
