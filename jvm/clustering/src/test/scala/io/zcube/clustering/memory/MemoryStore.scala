package io.zcube.clustering.memory

import java.io.FileNotFoundException
import java.nio.file.FileAlreadyExistsException

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow

/** In-memory data files and log of a table. Each operation can be made to fail ([[StoreFaults]]).
  */
final class MemoryStore {

  val faults = new StoreFaults

  private val files = mutable.Map.empty[String, IndexedSeq[InternalRow]]
  private val log = mutable.ArrayBuffer.empty[MemoryCommit]

  def put(path: String, rows: IndexedSeq[InternalRow]): Unit =
    faults.around("put")(synchronized(files(path) = rows))

  def read(path: String): IndexedSeq[InternalRow] = faults.around("read")(rowsOf(path))

  def delete(path: String): Unit = faults.around("delete")(synchronized(files.remove(path): Unit))

  /** @throws java.nio.file.FileAlreadyExistsException if there is such a version */
  def append(version: Long, commit: MemoryCommit): Unit = faults.around("append")(synchronized {
    if (version != log.size) throw new FileAlreadyExistsException(s"version $version")
    log += commit
    ()
  })

  def commits(): IndexedSeq[MemoryCommit] = faults.around("list")(history)

  // What tests inspect, bypassing the faults.

  def history: IndexedSeq[MemoryCommit] = synchronized(log.toIndexedSeq)

  def paths: Set[String] = synchronized(files.keySet.toSet)

  def rowsOf(path: String): IndexedSeq[InternalRow] =
    synchronized(files.getOrElse(path, throw new FileNotFoundException(path)))
}

/** One version of a table.
  *
  * @param id      of the transaction
  * @param removed paths
  * @param metrics of a rewrite
  */
final case class MemoryCommit(
    id: String,
    removed: Set[String],
    added: Seq[MemoryFile],
    metrics: Map[String, String] = Map.empty)
