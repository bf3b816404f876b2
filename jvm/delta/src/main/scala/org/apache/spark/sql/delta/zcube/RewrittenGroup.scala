package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}

/** A group of files and what they were rewritten to. */
final case class RewrittenGroup(
    group: FileGroup,
    cubeId: String,
    added: Seq[AddFile],
    removed: Seq[RemoveFile],
    figures: RewriteFigures)
