package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}

/** A group of files and what became of it. */
final case class RewrittenGroup(group: FileGroup, added: Seq[AddFile], removed: Seq[RemoveFile])
