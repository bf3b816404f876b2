package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.functions.{array, col, lit, max, struct}
import org.apache.spark.sql.types.{DataType, NullType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.quality.FileRanges
import io.zcube.sql.layout.SimulatedFile

/** What the log says of a table's files: their statistics of some columns, their sizes, their cubes.
  *
  * @param extremes for each column, what is known of each file's minimum and maximum
  * @param cubes    cubes by these columns
  * @param inCubes  bytes of their files
  * @param fresh    bytes of files in no cube
  * @param others   bytes of files in cubes by other columns
  */
final case class LoggedFiles(
    files: Int,
    extremes: IndexedSeq[Extremes],
    cubes: Long,
    inCubes: Long,
    fresh: Long,
    others: Long) {

  /** For each column. */
  val ranges: IndexedSeq[FileRanges] = extremes.map(_.ranges)

  /** Of all files. */
  def bytes: Long = inCubes + fresh + others
}

object LoggedFiles {

  private val Path = 0
  private val Size = 1
  private val CubeId = 2
  private val ZOrderBy = 3
  private val Physical = 4
  private val Provider = 5
  private val Rows = 6
  private val FirstColumn = 7
  private val PerColumn = 3

  private def tag(name: String): Column = col("tags")(lit(name))
  private val cubeId = tag(AddFile.tag(AddFile.Tags.ZCUBE_ID))
  private val zOrderBy = tag(AddFile.tag(AddFile.Tags.ZCUBE_ZORDER_BY))
  private val physical = tag(CubeTags.PhysicalColumns)

  /** Of the files that the predicates don't rule out. */
  def of(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      predicates: Seq[Expression]): LoggedFiles = session.withActive {
    val described = describe(snapshot, columns)
    val all = collect(described)
    val rows =
      if (predicates.isEmpty) all
      else {
        val selected = snapshot.filesForScan(predicates, keepNumRecords = false).files
        val paths = selected.iterator.map(_.path).toSet
        all.filter(row => paths(row.getString(Path)))
      }
    summed(rows, described, columns)
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
      added: Seq[SimulatedFile]): (LoggedFiles, LoggedFiles) = session.withActive {
    val described = describe(snapshot, columns)
    val rows = collect(described)
    val stay = rows.filterNot(row => removed(row.getString(Path)))
    val types = described.schema.map(_.dataType)
    val come = added.map { file =>
      val perColumn = columns.indices.flatMap[Any] { i =>
        // Files have no statistics of columns that the table keeps none of.
        if (types(FirstColumn + i * PerColumn) == NullType) Seq(null, null, null)
        else Seq(file.lower(i), file.upper(i), file.nulls(i))
      }
      val known = Seq[Any](UTF8String.EMPTY_UTF8, 0L, null, null, null, null, file.rows)
      InternalRow.fromSeq(known ++ perColumn)
    }
    (summed(rows, described, columns), summed(stay ++ come, described, columns))
  }

  private def summed(
      rows: Array[InternalRow],
      described: DataFrame,
      columns: Seq[ColumnPath]): LoggedFiles = {
    val types = described.schema.map(_.dataType)
    val extremes = columns.indices.map { i =>
      val at = FirstColumn + i * PerColumn
      Extremes.of(rows, types(at), at, at + 1, at + 2, Rows)
    }
    sized(rows, columns, extremes)
  }

  /** The columns of the newest file that tells by which it was laid out, if it still has them. */
  def lastZOrder(session: SparkSession, snapshot: Snapshot): Option[Seq[ColumnPath]] =
    session.withActive {
      val newest = snapshot.allFiles.toDF()
        .where(zOrderBy.isNotNull)
        .agg(max(struct(col("modificationTime"), array(zOrderBy, physical), col("path"))))
        .head()
      Option(newest.getStruct(0)).flatMap { found =>
        val Seq(logical, physicalTag) = found.getSeq[String](1)
        val resolver = session.sessionState.conf.resolver
        val named = Option(physicalTag) match {
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

  private def describe(snapshot: Snapshot, columns: Seq[ColumnPath]): DataFrame = {
    val files = snapshot.withStats
    val statistics = files.schema("stats").dataType
    val partitions = snapshot.metadata.partitionSchema
      .map(field => Seq(DeltaColumnMapping.getPhysicalName(field)) -> field.dataType)
      .toMap
    val perColumn = columns.flatMap { column =>
      partitions.get(column.physical) match {
        case Some(dataType) =>
          // All rows of a file have the partition's value, or all have NULL.
          val text = col("partitionValues")(lit(column.physical.head))
          val nulls = org.apache.spark.sql.functions.when(text.isNull, rowsColumn(statistics))
          Seq(text.try_cast(dataType), text.try_cast(dataType), nulls)
        case None =>
          Seq("minValues", "maxValues", "nullCount").map(kind =>
            StatisticsRanges.statistic(statistics, kind +: column.physical))
      }
    }
    val provider = col("clusteringProvider")
    val known = Seq(col("path"), col("size"), cubeId, zOrderBy, physical, provider)
    val selected = (known :+ rowsColumn(statistics)) ++ perColumn
    files.select(selected.zipWithIndex.map { case (column, i) => column.as(s"c$i") }: _*)
      .asInstanceOf[DataFrame]
  }

  private def rowsColumn(statistics: DataType): Column =
    StatisticsRanges.statistic(statistics, Seq("numRecords"))

  /** In Spark's own form of values: no conversion, and no time zone in the way. */
  private def collect(files: Dataset[_]): Array[InternalRow] =
    SQLExecution.withNewExecutionId(files.queryExecution) {
      files.queryExecution.executedPlan.executeCollect()
    }

  private def sized(
      rows: Array[InternalRow],
      columns: Seq[ColumnPath],
      extremes: IndexedSeq[Extremes]): LoggedFiles = {
    def text(row: InternalRow, at: Int): Option[String] =
      Option.when(!row.isNullAt(at))(row.getString(at))
    // There are few different tags, and perhaps a million files.
    val areColumns = CubeTags.matcher(columns)
    val matching = scala.collection.mutable.Map.empty[(Option[String], String), Boolean]
    val cubes = scala.collection.mutable.Set.empty[String]
    var inCubes, fresh, others = 0L
    rows.foreach { row =>
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
    LoggedFiles(
      rows.length,
      extremes,
      cubes.size.toLong,
      inCubes,
      fresh,
      others)
  }
}
