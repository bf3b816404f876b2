package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.actions.{Action, AddFile, RemoveFile}

/** The changes that a rewrite commits to the log.
  *
  * @param replaced the rewritten files, as in the log
  * @param removed  the corresponding remove actions of the commit
  * @param added    the new files, with the tags of their cubes
  */
final case class RewriteChanges(
    replaced: Seq[AddFile],
    removed: Seq[RemoveFile],
    added: Seq[AddFile]) {

  def actions: Seq[Action] = added ++ removed
}
