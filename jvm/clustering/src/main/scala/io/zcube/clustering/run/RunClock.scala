package io.zcube.clustering.run

/** When a statement began, and how long ago that is.
  *
  * @param now milliseconds since 1970
  */
final class RunClock(now: () => Long = () => System.currentTimeMillis()) {

  val startedAt: Long = now()

  /** Whether so many milliseconds are over; never, if there is no limit. */
  def isOver(limit: Option[Long]): Boolean = limit.exists(now() - startedAt >= _)
}
