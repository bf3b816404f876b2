package io.zcube.clustering.table

/** The outcome of a commit. Only the table decides: an exception proves nothing, because a store's
  * response may be lost.
  */
sealed trait CommitResult

object CommitResult {

  /** The table contains it.
    *
    * @param failure a later failure that must end the run: an interrupt, a fatal error, an action
    *   after the commit that couldn't be repeated
    */
  final case class Committed(version: Long, failure: Option[Throwable] = None) extends CommitResult

  /** The table doesn't contain it and never will, so the files may be removed.
    *
    * @param cause a [[java.util.ConcurrentModificationException]] if a concurrent change
    *   invalidated it
    * @param invalidated numbers of the groups that the change invalidated, if the others may be committed
    *   without them; otherwise empty
    */
  final case class Rejected(cause: Throwable, invalidated: Set[Int] = Set.empty)
      extends CommitResult

  /** The table may contain it now or later, so the files stay and nothing is retried. */
  final case class Unknown(error: Throwable) extends CommitResult
}
