package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.Column
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.functions.{coalesce, col, from_json, lit, when}
import org.apache.spark.sql.types.{ArrayType, StringType}

import io.zcube.clustering.table.ColumnPath

/** Tags of the log's files, as columns for queries; [[CubeTags]] reads the same from a single file.
  */
object LoggedTags {

  private def tag(name: String): Column = col("tags")(lit(name))

  val cubeId: Column = tag(AddFile.tag(AddFile.Tags.ZCUBE_ID))
  val zOrderBy: Column = tag(AddFile.tag(AddFile.Tags.ZCUBE_ZORDER_BY))
  val physicalColumns: Column = tag(CubeTags.PhysicalColumns)

  /** When a file, or the one whose rows it has, was clustered. */
  val clusteredTime: Column =
    coalesce(tag(CubeTags.ClusteredTime).try_cast("bigint"), col("modificationTime"))

  private val logicalColumns = from_json(zOrderBy, ArrayType(StringType))
  private val isForeign = coalesce(col("clusteringProvider") =!= CubeTags.Provider, lit(false))

  /** The id of a cube with these columns and any curve; NULL for other files. */
  def cubeIdOf(columns: Seq[ColumnPath]): Column =
    when(isTagged(columns) && !isForeign && areColumns(columns), cubeId)

  /** Whether a file is laid out by other columns, or by another system. */
  def isOfOthers(columns: Seq[ColumnPath]): Column =
    (isTagged(columns) || isForeign) && cubeIdOf(columns).isNull

  /** Columns that can't be read, or none, are no tag. Those that are asked for needn't be parsed. */
  private def isTagged(columns: Seq[ColumnPath]): Column = {
    val areThese = zOrderBy === JsonUtils.toJson(columns.map(_.name))
    cubeId.isNotNull &&
    coalesce(areThese || logicalColumns =!= lit(Array.empty[String]), lit(false))
  }

  private def areColumns(columns: Seq[ColumnPath]): Column = {
    val logical = logicalColumns === lit(columns.map(_.name).toArray)
    coalesce(
      when(physicalColumns.isNotNull, physicalColumns === CubeTags.physicalNames(columns))
        .otherwise(logical),
      lit(false))
  }
}
