package io.zcube.clustering.memory

import java.util.ConcurrentModificationException
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Expression, GenericInternalRow, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.clustering.table._
import io.zcube.planning.{CubeRest, CubeTag, DataFile, KeyRanges}
import io.zcube.sql.values.LongKey

final class MemoryVersion(
    override val table: MemoryTable,
    val commits: IndexedSeq[MemoryCommit],
    val files: Map[String, MemoryFile])
    extends TableVersion {

  val live: Seq[MemoryFile] = files.values.toSeq.sortBy(_.path)

  override def schema: StructType = table.schema

  override def partitionColumns: Seq[String] = table.partitionedBy

  override def clusteringColumns: Seq[ColumnPath] =
    table.declared.flatMap(name => column(Seq(name), _ == _))

  /** Files are numbered as they are written. */
  override def lastColumns: Option[Seq[ColumnPath]] =
    live.flatMap(_.cube).map(_._2).lastOption.map(_.columns)

  override def takesClusteringColumns: Boolean = table.declared.nonEmpty

  override def column(parts: Seq[String], resolver: Resolver): Option[ColumnPath] =
    schema.find(field => parts.size == 1 && resolver(field.name, parts.head))
      .map(field => ColumnPath(Seq(field.name), Seq(field.name), field.dataType))

  /** As in Delta's log. */
  override def hasMinima(column: ColumnPath): Boolean =
    column.dataType != BooleanType && hasNullCounts(column)

  override def hasNullCounts(column: ColumnPath): Boolean =
    !column.logical.contains(MemoryVersion.WithoutStatistics)

  override def fileCount: Long = live.size.toLong

  override def select(where: WhereClause): FileSelection = new MemorySelection(this, where)

  override def statistics(columns: Seq[ColumnPath], withPaths: Boolean): FileStatistics =
    MemoryVersion.statisticsOf(if (withPaths) live else live.map(_.copy(path = "")), columns)

  override def filesRead(condition: Expression): FilesRead =
    MemoryRelation.filesRead(this, condition)

  override def scansIn(optimized: LogicalPlan): Seq[TableScan] =
    MemoryRelation.scansIn(optimized, this)

  override def pastRewrites(max: Int): Seq[RewriteCost] = commits.reverse.flatMap { commit =>
    for (cpu <- commit.metrics.get("cpuTimeMs"); bytes <- commit.metrics.get("bytes"))
      yield RewriteCost(cpu.toLong, bytes.toLong)
  }.take(max)

  override def tune(session: SparkSession): Unit = ()
}

object MemoryVersion {

  /** The name of a column of which files have no statistics at all. */
  val WithoutStatistics = "without_statistics"

  def statisticsOf(files: Seq[MemoryFile], columns: Seq[ColumnPath]): FileStatistics = {
    val rows = files.map { file =>
      val cube = file.cube.filter(_._2.columns == columns).map(_._1)
      val known = Seq[Any](
        UTF8String.fromString(file.path),
        file.bytes,
        cube.map(UTF8String.fromString).orNull,
        file.cube.isDefined && cube.isEmpty,
        file.rowCount)
      val perColumn = columns.flatMap { column =>
        val bounds = file.bounds(column.logical.head)
        Seq[Any](
          bounds.minMax.map(_._1).orNull,
          bounds.minMax.map(_._2).orNull,
          bounds.nulls)
      }
      new GenericInternalRow((known ++ perColumn).toArray): InternalRow
    }
    val types = Seq(StringType, LongType, StringType, BooleanType, LongType) ++
      columns.flatMap(column => Seq(column.dataType, column.dataType, LongType))
    new FileStatistics(rows.toArray, types.toIndexedSeq)
  }
}

/** Supports only WHERE `partition = value`. */
final private class MemorySelection(version: MemoryVersion, where: WhereClause)
    extends FileSelection {

  private val (picked, left) = version.live.partition { file =>
    where.filters.forall {
      case EqualTo(column: AttributeReference, value: Literal) =>
        file.partition(column.name) == String.valueOf(value.value)
      case other => throw new UnsupportedOperationException(other.sql)
    }
  }

  override def files(layout: Option[LayoutTag]): Seq[DataFile] = picked.map(dataFile(_, layout))

  private def dataFile(file: MemoryFile, layout: Option[LayoutTag]): DataFile = {
    val deleted = file.deleted.size.toLong
    DataFile(
      file.path,
      file.bytes - deleted * MemoryFile.RowBytes,
      Some(file.rowCount - deleted),
      if (file.rowCount == 0) 0.0 else deleted.toDouble / file.rowCount,
      for (wanted <- layout; (id, by) <- file.cube)
        yield CubeTag(
          id,
          matches = by == wanted,
          sameColumns = by.columns == wanted.columns && by.declared == wanted.declared,
          overlapping = file.overlapping),
      partition = file.partition,
      deletedBytes = deleted * MemoryFile.RowBytes,
      deletedRows = Option.when(deleted > 0)(deleted)
    )
  }

  override def ranges(columns: Seq[ColumnPath]): String => KeyRanges = path => {
    val bounds = columns.map { column =>
      val key = LongKey.find(column.dataType).get
      version.files(path).bounds(column.logical.head).minMax
        .fold((KeyRanges.NoLower, KeyRanges.NoUpper)) { case (low, high) =>
          (key.numberOf(low), key.numberOf(high))
        }
    }
    new KeyRanges(bounds.map(_._1).toArray, bounds.map(_._2).toArray)
  }

  override def outside(cubes: Set[String]): OutsideWhere = OutsideWhere(
    left.size.toLong,
    left.filter(_.cube.exists(c => cubes(c._1))).groupBy(_.cube.get._1).map { case (id, files) =>
      val rows = files.map(file => file.rowCount - file.deleted.size).sum
      id -> CubeRest(files.size.toLong, rows * MemoryFile.RowBytes, Some(rows))
    }
  )

  override def statistics(
      columns: Seq[ColumnPath],
      paths: Option[collection.Set[String]]): FileStatistics = {
    version.table.onStep("statistics")
    MemoryVersion.statisticsOf(
      picked.filter(file => paths.forall(_.contains(file.path))),
      columns)
  }

  private val prepared = ConcurrentHashMap.newKeySet[String]()

  override def prepare(files: Seq[DataFile]): Unit = {
    version.table.onStep("prepare")
    files.foreach(f => prepared.add(f.path))
    version.table.prepared.updateAndGet(_ :+ prepared.size): Unit
  }

  override def release(files: Seq[DataFile]): Unit = {
    files.foreach(f => prepared.remove(f.path))
    version.table.released.set(prepared.isEmpty)
  }

  private def use(files: Seq[DataFile]): Unit =
    if (!files.forall(f => prepared.contains(f.path)))
      version.table.unprepared.incrementAndGet(): Unit

  override def scanGroups(session: SparkSession, groups: Seq[Seq[DataFile]]): FileScan = {
    groups.foreach(use)
    val columns = toAttributes(version.schema)
    val hidden = toAttributes(
      new StructType().add("file", StringType).add("row_index", LongType)
        .add("group", IntegerType))
    val types = version.schema.map(_.dataType)
    val rows = for {
      (files, group) <- groups.zipWithIndex
      file <- files
      deleted = version.files(file.path).deleted
      (row, i) <- version.table.store.read(file.path).zipWithIndex if !deleted(i)
    } yield InternalRow.fromSeq(
      row.toSeq(types) ++ Seq(UTF8String.fromString(file.path), i.toLong, group))
    FileScan(
      LocalRelation(columns ++ hidden, rows),
      columns,
      hidden.take(2),
      hidden.drop(2).headOption)
  }

  override def conflictOf(files: Seq[DataFile]): Option[ConcurrentModificationException] =
    files.find(f =>
      version.table.tellsConflicts && version.table.now.files.get(f.path) != version.files.get(
        f.path))
      .map(file => new ConcurrentModificationException(s"${file.path} is gone"))

  override def begin(session: SparkSession, files: Seq[DataFile]): RewriteTransaction = {
    use(files)
    new MemoryRewrite(session, version, files.map(f => version.files(f.path)))
  }
}
