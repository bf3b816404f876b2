package org.apache.spark.sql.delta.zcube.run

/** What became of a commit. Only the log decides: an exception proves nothing, stores lose answers. */
sealed trait CommitResult

object CommitResult {

  /** The log has it.
    *
    * @param failure what came after it and is to end the run: an interrupt, a fatal error
    */
  final case class Landed(version: Long, failure: Option[Throwable] = None) extends CommitResult

  /** The log doesn't have it and never will, so the files may be removed. */
  final case class Refused(cause: Throwable) extends CommitResult

  /** It may be in the log, or get there yet, so the files stay and nothing is tried again. */
  final case class Unknown(error: Throwable) extends CommitResult
}
