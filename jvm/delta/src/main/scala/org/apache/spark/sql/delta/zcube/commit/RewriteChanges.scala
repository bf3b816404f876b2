package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.actions.{Action, AddFile, RemoveFile}

/** What a rewrite changes in one group of files.
  *
  * @param number   identifies the group in its transaction
  * @param replaced the rewritten files, as in the log
  * @param added    the new files, with the tags of their cubes
  */
final case class GroupChanges(number: Int, replaced: Seq[AddFile], added: Seq[AddFile])

/** The changes that one commit of a rewrite makes to the log.
  *
  * @param removedAt when the replaced files are removed, in milliseconds: VACUUM keeps them for their
  *                  readers from then on
  */
final case class RewriteChanges(groups: Seq[GroupChanges], removedAt: Long) {

  val replaced: Seq[AddFile] = groups.flatMap(_.replaced)
  val removed: Seq[RemoveFile] = replaced.map(_.removeWithTimestamp(removedAt, dataChange = false))
  val added: Seq[AddFile] = groups.flatMap(_.added)

  def actions: Seq[Action] = added ++ removed
}
