package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.functions.{array, col, max, struct}

import io.zcube.quality.FileRanges
import io.zcube.sql.simulation.SimulatedFile

/** What the log says of a table's files: their statistics of some columns, their sizes, their cubes.
  *
  * @param extremes for each column, what is known of each file's minimum and maximum
  * @param cubes    cubes by these columns
  * @param inCubes  bytes of their files
  * @param fresh    bytes of files in no cube
  * @param others   bytes of files in cubes by other columns
  */
final case class ClusteringState(
    files: Int,
    extremes: IndexedSeq[ColumnMinMax],
    cubes: Long,
    inCubes: Long,
    fresh: Long,
    others: Long) {

  /** For each column. */
  val ranges: IndexedSeq[FileRanges] = extremes.map(_.ranges)

  /** Of all files. */
  def bytes: Long = inCubes + fresh + others
}

object ClusteringState {
  import FileStatisticsRows._

  /** Of the files that the predicates don't rule out. */
  def of(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      predicates: Seq[Expression]): ClusteringState = session.withActive {
    val described =
      if (predicates.isEmpty) FileStatisticsRows.of(snapshot, columns, withPaths = false)
      else {
        val selected = snapshot.filesForScan(predicates, keepNumRecords = false).files
        val statistics = LoggedStatistics.of(session, snapshot, predicates)
        FileStatisticsRows.ofPaths(
          snapshot,
          statistics,
          columns,
          selected.iterator.map(_.path).toSet)
      }
    summed(described, columns)
  }

  /** All files as they are, and as they would be with some of them replaced by others.
    *
    * @param removed paths of those that go
    * @param added   those that come
    */
  def beforeAndAfter(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      removed: Set[String],
      added: Seq[SimulatedFile]): (ClusteringState, ClusteringState) = session.withActive {
    val now = FileStatisticsRows.of(snapshot, columns, withPaths = true)
    val stay = now.only(row => !removed(row.getString(Path)))
    (summed(now, columns), summed(stay.and(added), columns))
  }

  /** The columns of the newest file that tells by which it was laid out, if it still has them. */
  def lastZOrder(session: SparkSession, snapshot: Snapshot): Option[Seq[ColumnPath]] =
    session.withActive {
      val newest = snapshot.allFiles.toDF()
        .where(zOrderByTag.isNotNull)
        .agg(max(struct(col("modificationTime"), array(zOrderByTag, physicalTag), col("path"))))
        .head()
      Option(newest.getStruct(0)).flatMap { found =>
        val Seq(logical, physical) = found.getSeq[String](1)
        val resolver = session.sessionState.conf.resolver
        val named = Option(physical) match {
          case Some(tag) =>
            val bySource = leaves(snapshot)
            JsonUtils.fromJson[Seq[Seq[String]]](tag).map(bySource.get)
          case None => JsonUtils.fromJson[Seq[String]](logical).map { name =>
              val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
              ColumnPath.find(snapshot.schema, parts, resolver)
            }
        }
        Option.when(named.nonEmpty && named.forall(_.isDefined))(named.flatten)
      }
    }

  /** The table's columns and leaves, by their physical names. */
  private def leaves(snapshot: Snapshot): Map[Seq[String], ColumnPath] =
    org.apache.spark.sql.delta.schema.SchemaMergingUtils
      .explode(snapshot.schema)
      .flatMap { case (path, _) => ColumnPath.find(snapshot.schema, path, _ == _) }
      .map(column => column.physical -> column)
      .toMap

  private def summed(described: FileStatisticsRows, columns: Seq[ColumnPath]): ClusteringState = {
    def text(row: InternalRow, at: Int): Option[String] =
      Option.when(!row.isNullAt(at))(row.getString(at))
    // There are few different tags, and perhaps a million files.
    val areColumns = CubeTags.matcher(columns)
    val matching = scala.collection.mutable.Map.empty[(Option[String], String), Boolean]
    val cubes = scala.collection.mutable.Set.empty[String]
    var inCubes, fresh, others = 0L
    described.rows.foreach { row =>
      val size = row.getLong(Size)
      val foreign = text(row, Provider).exists(_ != CubeTags.Provider)
      (text(row, CubeId), text(row, ZOrderBy)) match {
        case (Some(id), Some(by)) =>
          val names = (text(row, Physical), by)
          val same = !foreign && matching.getOrElseUpdate(
            names,
            areColumns(names._1, JsonUtils.fromJson[Seq[String]](by)))
          if (same) {
            cubes += id
            inCubes += size
          } else others += size
        case _ => if (foreign) others += size else fresh += size
      }
    }
    ClusteringState(
      described.rows.length,
      described.extremes,
      cubes.size.toLong,
      inCubes,
      fresh,
      others)
  }
}
