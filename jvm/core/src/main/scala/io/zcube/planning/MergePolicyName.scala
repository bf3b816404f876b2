package io.zcube.planning

import java.util.Locale

/** How cubes are merged, by the name that users type. */
sealed abstract class MergePolicyName(val name: String) {
  def policy: MergePolicy
}

object MergePolicyName {

  /** Bounds rewriting: [[LazyLeveling]]. */
  case object Leveled extends MergePolicyName("leveled") {
    override def policy: MergePolicy = LazyLeveling
  }

  /** Every partial cube, each time: [[MergeAll]]. */
  case object All extends MergePolicyName("all") {
    override def policy: MergePolicy = MergeAll
  }

  val all: Seq[MergePolicyName] = Seq(Leveled, All)

  def find(name: String): Option[MergePolicyName] =
    all.find(_.name == name.toLowerCase(Locale.ROOT))
}
