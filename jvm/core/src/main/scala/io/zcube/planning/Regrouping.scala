package io.zcube.planning

/** What a plan does with cubes that overlap because several jobs made them. */
sealed trait Regrouping

object Regrouping {

  /** They are rewritten once more, by region, when all is clustered. */
  case object Now extends Regrouping

  /** They stay; the plan says whether there are regions to divide them into. */
  case object Later extends Regrouping

  /** They stay, and so does what is left of them, for others to regroup. */
  case object Never extends Regrouping
}
