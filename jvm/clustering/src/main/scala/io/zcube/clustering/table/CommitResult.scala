package io.zcube.clustering.table

/** What became of a commit. Only the table decides: an exception proves nothing, stores lose answers. */
sealed trait CommitResult

object CommitResult {

  /** The table has it.
    *
    * @param failure what came after it and is to end the run: an interrupt, a fatal error
    */
  final case class Landed(version: Long, failure: Option[Throwable] = None) extends CommitResult

  /** The table doesn't have it and never will, so the files may be removed.
    *
    * @param cause a [[java.util.ConcurrentModificationException]] if a concurrent change made it void
    * @param void  ids of the cubes that the change made void, if the others may be committed without them;
    *              empty if none may
    */
  final case class Refused(cause: Throwable, void: Set[String] = Set.empty) extends CommitResult

  /** It may be in the table, or get there yet, so the files stay and nothing is tried again. */
  final case class Unknown(error: Throwable) extends CommitResult
}
