package io.zcube.clustering.memory

import java.util.UUID
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

import io.zcube.clustering.table.{ClusterableTable, LayoutTag}

/** A table with in-memory files and a log: the engine's second format. It has everything needed to
  * test the engine: partitions, deleted rows, cubes, conflicts, a failing store.
  *
  * @param partitionedBy names of columns; files have them too
  * @param declared      the clustering columns
  */
final class MemoryTable(
    override val name: String,
    val schema: StructType,
    val partitionedBy: Seq[String] = Nil,
    val declared: Seq[String] = Nil)
    extends ClusterableTable {

  val store = new MemoryStore

  /** How often files were scanned or rewritten that their selection wasn't prepared for. */
  val unprepared = new AtomicInteger

  /** How many files a selection was prepared for, after each preparation. */
  val prepared = new AtomicReference(Vector.empty[Int])

  /** Whether a selection was released from all of them in the end. */
  val released = new AtomicBoolean

  /** Called before a selection reads `statistics`, or is prepared, `prepare`, and before a `commit`. */
  @volatile var onStep: String => Unit = _ => ()

  /** Whether its selections say which rewrites can't be committed any more. */
  @volatile var tellsConflicts = false

  override def nameParts: Seq[String] = Seq("memory", name)

  override def latest(): MemoryVersion = versionOf(store.commits())

  /** The table, bypassing the faults of its store. */
  def now: MemoryVersion = versionOf(store.history)

  private def versionOf(commits: IndexedSeq[MemoryCommit]): MemoryVersion = {
    val files = commits.foldLeft(Map.empty[String, MemoryFile]) { (files, commit) =>
      files -- commit.removed ++ commit.added.map(file => file.path -> file)
    }
    new MemoryVersion(this, commits, files)
  }

  /** Adds a file for each partition of these rows. */
  def append(rows: Seq[InternalRow]): Unit = {
    val added = rows.groupBy(MemoryFile.partitionOf(this, _)).toSeq.sortBy(_._1.toString).map {
      case (partition, members) =>
        val path = s"appended-${UUID.randomUUID()}"
        store.put(path, members.toIndexedSeq)
        MemoryFile.of(this, path, members.toIndexedSeq, partition)
    }
    commit(_ => MemoryCommit(UUID.randomUUID().toString, Set.empty, added))
  }

  /** Deletes rows, by deletion vectors. */
  def delete(which: InternalRow => Boolean): Unit = commit { files =>
    val changed = files.flatMap { file =>
      val gone = store.rowsOf(file.path).zipWithIndex.collect {
        case (row, i) if which(row) => i
      }.toSet ++ file.deleted
      Option.when(gone != file.deleted)(file.copy(deleted = gone))
    }
    MemoryCommit(UUID.randomUUID().toString, changed.map(_.path).toSet, changed)
  }

  @tailrec
  private def commit(change: Seq[MemoryFile] => MemoryCommit): Unit = {
    val history = store.history
    val done =
      try {
        store.append(history.size.toLong, change(versionOf(history).live))
        true
      } catch { case _: java.nio.file.FileAlreadyExistsException => false }
    if (!done) commit(change)
  }

  /** How often each row is in the table now, as strings. */
  def rows: Map[String, Int] =
    now.live.flatMap(_.rowsIn(store)).groupMapReduce(_.toSeq(schema).toString)(_ => 1)(_ + _)

  /** Files of the store that the table doesn't have. */
  def orphans: Set[String] = store.paths -- store.history.flatMap(_.added.map(_.path))
}

/** @param deleted places of rows in the file
  * @param cube    its id, and by what it was laid out
  * @param overlapping the job that made its cube, if that overlaps those of others
  */
final case class MemoryFile(
    path: String,
    partition: Map[String, String],
    bytes: Long,
    rowCount: Long,
    bounds: Map[String, MemoryFile.Bounds],
    deleted: Set[Int] = Set.empty,
    cube: Option[(String, LayoutTag)] = None,
    overlapping: Option[String] = None) {

  def rowsIn(store: MemoryStore): Seq[InternalRow] =
    store.rowsOf(path).zipWithIndex.collect { case (row, i) if !deleted(i) => row }
}

object MemoryFile {

  /** Every row takes the same number of bytes, so that plans are predictable. */
  val RowBytes = 100L

  /** In Spark's internal form; None if all values are NULL. */
  final case class Bounds(minMax: Option[(Any, Any)], nulls: Long)

  def of(
      table: MemoryTable,
      path: String,
      rows: IndexedSeq[InternalRow],
      partition: Map[String, String]): MemoryFile = {
    val bounds = table.schema.fields.zipWithIndex.map { case (field, i) =>
      val values = rows.filterNot(_.isNullAt(i)).map(_.get(i, field.dataType))
      val order = io.zcube.sql.values.ValueOrdering.ofStatistics(field.dataType)
      val minMax = Option.when(values.nonEmpty)((values.min(order), values.max(order)))
      field.name -> Bounds(minMax, (rows.size - values.size).toLong)
    }.toMap
    MemoryFile(path, partition, rows.size * RowBytes, rows.size.toLong, bounds)
  }

  def partitionOf(table: MemoryTable, row: InternalRow): Map[String, String] =
    table.partitionedBy.map { name =>
      val i = table.schema.fieldIndex(name)
      name -> String.valueOf(row.get(i, table.schema(i).dataType))
    }.toMap
}
