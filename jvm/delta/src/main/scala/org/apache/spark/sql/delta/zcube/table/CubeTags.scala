package org.apache.spark.sql.delta.zcube.table

import scala.util.Try

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.delta.zorder.ZCubeInfo
import org.apache.spark.sql.types.StructType

import io.zcube.clustering.table.{ColumnPath, LayoutTag, NewCube}
import io.zcube.layout.ColumnWeights
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.CubeTag

/** The tags that assign a file to a ZCube: Delta's own, so that each system can continue with the
  * other's cubes, and some more: one with the physical names, so that a cube survives a renamed column,
  * and those of a layout or a job that Delta doesn't have.
  */
final class CubeTags(layout: LayoutTag) extends Serializable {
  import CubeTags._

  private val logical = layout.columns.map(_.name)
  private val physical = CubeTags.physicalNames(layout.columns)
  private val curve = layout.curve
  private val weights =
    Option.when(layout.weights.nonEmpty)(Weights -> JsonUtils.toJson(layout.weights))
  private val workload = layout.workload.map(Workload -> _)
  // The curve of cubes whose files don't name one: Delta's, whatever ZCube's default is.
  private val usualCurve: LayoutKind =
    if (layout.declared) LayoutKind.Hilbert else LayoutKind.ZOrder

  /** @return None for a file that was never clustered, or whose tags can't be read */
  def read(file: AddFile): Option[CubeTag] = {
    val foreign = file.clusteringProvider.exists(_ != Provider)
    // Delta's ZORDER BY doesn't read them.
    Try(ZCubeInfo.getForFile(file)).toOption.flatten.filter(_.zCubeID != null) match {
      case Some(info) =>
        val sameColumns = areColumns(file.getTag(PhysicalColumns), info.zOrderBy)
        val sameCurve =
          file.tag(AddFile.Tags.ZCUBE_ZORDER_CURVE).getOrElse(usualCurve.name) == curve.name
        val sameWorkload = file.getTag(Workload) == workload.map(_._2)
        val same = sameColumns && sameCurve && sameWorkload && areWeights(file.getTag(Weights))
        val overlapping = file.getTag(Overlapping)
        Some(CubeTag(info.zCubeID, same && !foreign, sameColumns && !foreign, overlapping))
      case None => Option.when(foreign)(CubeTag(file.path, matches = false))
    }
  }

  /** Uses the tag of physical names, if there is one: logical names may have changed since. */
  private def areColumns(physicalTag: Option[String], zOrderBy: Seq[String]): Boolean =
    physicalTag.fold(zOrderBy == logical)(_ == physical)

  /** Compares the numbers if the texts differ: those of other versions may have more digits. */
  private def areWeights(tag: Option[String]): Boolean =
    tag == weights.map(_._2) || tag.flatMap(weightsIn).exists { numbers =>
      ColumnWeights.normalized(numbers) == layout.weights
    }

  def write(file: AddFile, cube: NewCube): AddFile = {
    val tagged = ZCubeInfo.setForFile(file, ZCubeInfo(cube.id, logical))
    val overlapping = cube.overlapping.map(Overlapping -> _)
    tagged.copy(
      tags = tagged.tags ++ Map(
        AddFile.tag(AddFile.Tags.ZCUBE_ZORDER_CURVE) -> curve.name,
        PhysicalColumns -> physical) ++ weights ++ workload ++ overlapping,
      clusteringProvider =
        if (layout.declared) Some(Provider)
        else file.clusteringProvider
    )
  }
}

object CubeTags {

  /** The clustering provider of files laid out by CLUSTER BY, with either system. */
  val Provider: String = ClusteredTableUtils.clusteringProvider

  /** The value of the tag of physical names. */
  def physicalNames(columns: Seq[ColumnPath]): String = JsonUtils.toJson(columns.map(_.physical))

  /** The columns by which ZCube laid it out; None if it didn't, or if one no longer exists. Files of
    * Delta's cubes have only Delta's tags.
    */
  def columnsOf(file: AddFile, schema: StructType): Option[Seq[ColumnPath]] =
    file.getTag(PhysicalColumns)
      .flatMap(text => Try(JsonUtils.fromJson[Seq[Seq[String]]](text)).toOption)
      .map(_.map(TableColumns.findPhysical(schema, _)))
      .collect {
        case columns if columns.nonEmpty && columns.forall(_.isDefined) => columns.flatten
      }

  /** The weights of its columns; Nil if all are equal, or if they can't be read. */
  def weightsOf(file: AddFile): Seq[Double] =
    file.getTag(Weights).flatMap(weightsIn).fold(Seq.empty[Double])(ColumnWeights.normalized)

  private def weightsIn(tag: String): Option[Seq[Double]] =
    Try(tag.stripPrefix("[").stripSuffix("]").split(',').toSeq.map(_.trim.toDouble)).toOption
      .filter(_.forall(ColumnWeights.isWeight))

  /** Whether a system has laid it out, be it unknown. */
  def isInCube(file: AddFile): Boolean =
    ofCube(file).nonEmpty || file.clusteringProvider.isDefined

  /** How many rows it had when it was clustered; None if the log doesn't know. */
  def clusteredRows(file: AddFile): Option[Long] =
    file.getTag(ClusteredRows).flatMap(_.toLongOption).orElse(file.numPhysicalRecords)

  /** The new file with the place of another, most of whose rows are its rows, and no others. */
  def copied(from: AddFile, to: AddFile): AddFile = {
    val rows = clusteredRows(from).map(ClusteredRows -> _.toString)
    val time = ClusteredTime -> from.getTag(ClusteredTime).getOrElse(from.modificationTime.toString)
    to.copy(
      tags = Option(to.tags).getOrElse(Map.empty) ++ ofCube(from) ++ rows + time,
      clusteringProvider = from.clusteringProvider)
  }

  /** Delta's tags of cubes, and ZCube's. */
  private def ofCube(file: AddFile): Map[String, String] =
    Option(file.tags).getOrElse(Map.empty).filter { case (key, _) => key.startsWith("ZCUBE_") }

  /** Not one of Delta's tags; a writer that doesn't know it either keeps or drops it. */
  val PhysicalColumns = "ZCUBE_PHYSICAL_COLUMNS"

  /** The weights of the columns, unless all are equal. */
  private val Weights = "ZCUBE_WEIGHTS"

  /** The rows that a file had when it was clustered, on one whose rows a MERGE has copied since. */
  private val ClusteredRows = "ZCUBE_CLUSTERED_ROWS"

  /** When such a file was clustered, in milliseconds since 1970. */
  private[table] val ClusteredTime = "ZCUBE_CLUSTERED_TIME"

  /** Fingerprint of the workload, if there is one. */
  private val Workload = "ZCUBE_WORKLOAD"

  /** The job, on files of cubes that overlap those of other jobs, until they are regrouped. */
  val Overlapping = "ZCUBE_OVERLAPPING"
}
