package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.delta.actions.AddFile

import io.zcube.planning.{CubeTag, DataFile}

/** Converts files of Delta's log to the engine's form. */
object DataFiles {

  def of(file: AddFile, cube: Option[CubeTag]): DataFile = {
    val live = liveBytesOf(file)
    DataFile(
      file.path,
      live,
      file.numLogicalRecords,
      deletedShare(file),
      cube,
      partition = file.partitionValues,
      deletedBytes = file.size - live,
      deletedRows = Option(file.deletionVector).map(_.cardinality)
    )
  }

  private def liveBytesOf(file: AddFile): Long =
    (file.size * (1.0 - file.deletedToPhysicalRecordsRatio.getOrElse(0.0))).toLong

  /** As in Delta, a file with deleted rows but no row count is worth rewriting. */
  private def deletedShare(file: AddFile): Double =
    if (file.deletionVector == null) 0.0 else file.deletedToPhysicalRecordsRatio.getOrElse(1.0)
}
