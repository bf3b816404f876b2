package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.actions.{Action, AddFile, RemoveFile}

/** What a commit of a rewrite changes in the log.
  *
  * @param replaced the rewritten files, as the log has them
  * @param removed  the same as the commit has them
  * @param added    with the tags of their cubes
  */
final case class RewriteChanges(
    replaced: Seq[AddFile],
    removed: Seq[RemoveFile],
    added: Seq[AddFile]) {

  def actions: Seq[Action] = added ++ removed
}
