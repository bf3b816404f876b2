package org.apache.spark.sql.delta.zcube.run

import org.apache.spark.sql.delta.actions.{AddFile, RemoveFile}
import org.apache.spark.sql.delta.zcube.plan.RewriteGroup

/** A group of files and what they were rewritten to. */
final case class RewriteResult(
    group: RewriteGroup,
    cubeId: String,
    added: Seq[AddFile],
    removed: Seq[RemoveFile],
    figures: RewriteMetrics)
