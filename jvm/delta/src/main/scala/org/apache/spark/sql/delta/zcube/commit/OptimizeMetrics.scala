package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.SparkContext
import org.apache.spark.sql.delta.commands.optimize.FileSizeStatsWithHistogram
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The metrics that Delta's OPTIMIZE reports, under the same names. */
object OptimizeMetrics {

  val RemovedBytes = "numRemovedBytes"

  def of(context: SparkContext, changes: RewriteChanges): Map[String, SQLMetric] = {
    import changes.{added, removed, replaced}
    val deleted = replaced.flatMap(file => Option(file.deletionVector))
    val sizes = FileSizeStatsWithHistogram.create(added.map(_.size).sorted)
    val values = Seq(
      "minFileSize" -> sizes.fold(0L)(_.min),
      "p25FileSize" -> sizes.fold(0L)(_.p25),
      "p50FileSize" -> sizes.fold(0L)(_.p50),
      "p75FileSize" -> sizes.fold(0L)(_.p75),
      "maxFileSize" -> sizes.fold(0L)(_.max),
      "numAddedFiles" -> added.size.toLong,
      "numRemovedFiles" -> removed.size.toLong,
      "numAddedBytes" -> added.map(_.size).sum,
      RemovedBytes -> removed.flatMap(_.size).sum,
      "numDeletionVectorsRemoved" -> deleted.size.toLong,
      "numDeletionVectorRowsRemoved" -> deleted.map(_.cardinality).sum,
      "numDeletionVectorBytesRemoved" -> deleted.map(_.sizeInBytes.toLong).sum
    )
    values.map { case (name, value) =>
      val metric = SQLMetrics.createMetric(context, name)
      metric.set(value)
      name -> metric
    }.toMap
  }
}
