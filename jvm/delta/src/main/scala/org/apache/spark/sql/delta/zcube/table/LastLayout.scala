package org.apache.spark.sql.delta.zcube.table

import scala.util.Try

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.functions.{col, max, struct}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.ColumnPath
import io.zcube.layout.kinds.LayoutKind

/** How files are laid out, as far as their tags say. A workload can't be recovered: the tags have only
  * its fingerprint.
  */
final case class FileLayout(columns: Seq[ColumnPath], curve: LayoutKind, weights: Seq[Double])

/** How a table was laid out last, according to its files' tags. */
object LastLayout {

  /** Files in the order in which they were clustered. Of those clustered at once, it decides by their
    * columns, so that everybody finds the same.
    */
  private val byTime = struct(
    LoggedTags.clusteredTime,
    LoggedTags.zOrderBy,
    LoggedTags.physicalColumns,
    col("path"))

  /** ZCube's last ZORDER BY; None if no file is in such a cube, or one of its columns no longer exists. */
  def zOrder(session: SparkSession, snapshot: Snapshot): Option[FileLayout] =
    Sessions.within(session) {
      val newest = snapshot.allFiles
        .where(col("tags").getItem(CubeTags.PhysicalColumns).isNotNull &&
          col("clusteringProvider").isNull)
        .orderBy(byTime.desc)
        .take(1)
        .headOption
      for {
        file <- newest
        columns <- CubeTags.columnsOf(file, snapshot.schema)
        curve <- file.tag(AddFile.Tags.ZCUBE_ZORDER_CURVE).flatMap(LayoutKind.find)
      } yield FileLayout(columns, curve, CubeTags.weightsOf(file))
    }

  /** The columns of the file that was clustered last, by whichever system, if all still exist. */
  def columns(session: SparkSession, snapshot: Snapshot): Option[Seq[ColumnPath]] =
    Sessions.within(session) {
      val newest = snapshot.allFiles.toDF()
        .where(LoggedTags.zOrderBy.isNotNull)
        .agg(max(byTime))
        .head()
      for {
        found <- Option(newest.getStruct(0))
        Seq(logical, physical) = Seq(1, 2).map(found.getString)
        named <- Try(columnsOf(session, snapshot, logical, Option(physical))).toOption
        if named.nonEmpty && named.forall(_.isDefined)
      } yield named.flatten
    }

  private def columnsOf(
      session: SparkSession,
      snapshot: Snapshot,
      logical: String,
      physical: Option[String]): Seq[Option[ColumnPath]] = physical match {
    case Some(tag) =>
      JsonUtils.fromJson[Seq[Seq[String]]](tag).map(TableColumns.findPhysical(snapshot.schema, _))
    case None => JsonUtils.fromJson[Seq[String]](logical).map { name =>
        val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
        TableColumns.find(snapshot.schema, parts, session.sessionState.conf.resolver)
      }
  }
}
