package io.zcube.clustering.memory

import java.nio.file.FileAlreadyExistsException
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table._
import io.zcube.concurrent.DeferredInterrupt
import io.zcube.planning.DataFile

/** Commits like Delta: a version is a file that must not exist yet, and after a failure the log
  * shows who wrote it.
  */
final private class MemoryRewrite(
    session: SparkSession,
    version: MemoryVersion,
    rewritten: Seq[MemoryFile])
    extends RewriteTransaction {

  private val table = version.table
  private val store = table.store
  private val id = UUID.randomUUID().toString
  private val made = ConcurrentHashMap.newKeySet[String]()
  private val written = new ConcurrentHashMap[String, MemoryFile]()

  override def writeGroups(
      rows: LogicalPlan,
      partitionOf: Int => Map[String, String]): Seq[RewriteTransaction.Written] = {
    val parts = Sessions.rowsOf(session, rows).queryExecution.toRdd
      .mapPartitions(part => Iterator(part.map(_.copy()).toArray))
      .collect()
    parts.toSeq.zipWithIndex.filter(_._1.nonEmpty).map { case (part, number) =>
      val partition = partitionOf(number)
      val path = s"rewritten-${UUID.randomUUID()}"
      made.add(path)
      store.put(path, part.toIndexedSeq)
      val file = MemoryFile.of(table, path, part.toIndexedSeq, partition)
      written.put(path, file)
      RewriteTransaction.Written(
        number,
        DataFile(path, file.bytes, Some(file.rowCount), partition = partition))
    }
  }

  override def countRows(files: Seq[DataFile]): Long =
    files.map(file => store.read(file.path).size.toLong).sum

  override def statistics(files: Seq[DataFile], columns: Seq[ColumnPath]): FileStatistics =
    MemoryVersion.statisticsOf(files.map(file => written.get(file.path)), columns)

  override def commit(groups: Seq[RewrittenGroup], summary: CommitSummary): CommitResult = {
    table.onStep("commit")
    val added = for (group <- groups; cube <- group.cubes; file <- cube.files)
      yield written.get(file.path).copy(
        cube = Some((cube.id, summary.layout)),
        overlapping = cube.overlapping)
    val removed = groups.flatMap(_.removed.map(_.path)).toSet
    val bytes = rewritten.filter(file => removed(file.path)).map(_.bytes).sum
    attempt(
      version.commits.size.toLong,
      MemoryCommit(id, removed, added, summary.metrics + ("bytes" -> bytes.toString)),
      groups)
  }

  @tailrec
  private def attempt(
      number: Long,
      commit: MemoryCommit,
      groups: Seq[RewrittenGroup]): CommitResult = {
    val failure =
      try {
        store.append(number, commit)
        None
      } catch { case e: Throwable => Some(e) }
    failure match {
      case None => CommitResult.Committed(number)
      case Some(e) =>
        DeferredInterrupt.within(found(number, e)) match {
          case Right(result) => result
          case Left(next) =>
            val (valid, invalidated) = groups.partition(stillValid)
            if (invalidated.isEmpty) attempt(next, commit, groups)
            else {
              CommitResult.Rejected(
                new java.util.ConcurrentModificationException("a file was changed meanwhile"),
                if (valid.isEmpty) Set.empty else invalidated.map(_.number).toSet)
            }
        }
    }
  }

  /** The outcome according to the log, or the version to try next if another writer took this one.
    */
  private def found(number: Long, failure: Throwable): Either[Long, CommitResult] =
    try {
      val log = store.commits()
      val ours = log.indexWhere(_.id == id)
      val ends = failure match {
        case _: java.io.InterruptedIOException => true
        case NonFatal(_) => false
        case _ => true
      }
      if (ours >= 0) Right(CommitResult.Committed(ours.toLong, Option.when(ends)(failure)))
      else if (log.size <= number) Right(CommitResult.Unknown(failure))
      else if (failure.isInstanceOf[FileAlreadyExistsException]) Left(log.size.toLong)
      else Right(CommitResult.Rejected(failure))
    } catch {
      case e: Throwable =>
        failure.addSuppressed(e)
        Right(CommitResult.Unknown(failure))
    }

  private def stillValid(group: RewrittenGroup): Boolean = {
    val now = table.now.files
    val removed = group.removed.map(_.path).toSet
    rewritten.filter(file => removed(file.path)).forall(file =>
      now.get(file.path).contains(file))
  }

  override def discard(written: Seq[DataFile]): Unit = remove(written.map(_.path))

  override def abort(): Unit = remove(made.asScala)

  private def remove(paths: Iterable[String]): Unit = DeferredInterrupt.within {
    paths.foreach { path =>
      try store.delete(path)
      catch { case _: Throwable => }
    }
  }
}
