package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.actions._
import org.apache.spark.sql.delta.zcube.table.FileFilter
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}

import io.zcube.concurrent.Causes

/** What a run knows of the versions after its plan: its own commits, and others' between them.
  *
  * Each commit would else be checked against all versions since the plan. The run's own rewrite
  * different files. Others' are read once. A rewrite of files that none of them names needs no check
  * against them, unless one changed the table's metadata or protocol. Whether that matters, a commit
  * finds out ([[add]], [[accept]], [[refuseAll]]).
  *
  * @param read  the snapshot from which the run was planned
  * @param table the name that users know
  * @param mayAsk whether the run may ask about a file with this path. What others' commits say of other
  *   files isn't kept: streams may have named millions
  */
final class CommitsSincePlan(
    read: Snapshot,
    table: String,
    catalogTable: Option[CatalogTable],
    mayAsk: String => Boolean) {

  private var last = read

  /** Snapshots after the run's own commits, and whether what is written for the plan fits them. What
    * others committed before is read when it is asked for: nobody asks after the last commit.
    */
  private val own = mutable.Queue.empty[(Snapshot, Snapshot => Boolean)]

  /** Hashes of the paths that others' commits name, up to `last`. */
  private val named = mutable.HashSet.empty[Long]

  /** The same of files that they removed, or gave another deletion vector: the version. */
  private val removed = mutable.HashMap.empty[Long, Long]

  /** What made all further commits of the run impossible. */
  private var refused: Option[ConcurrentModificationException] = None

  /** A snapshot such that no version from the plan up to it concerns a rewrite of these files: the
    * conflict check may begin after it.
    */
  def baseOf(files: Seq[AddFile]): Snapshot = synchronized {
    readUntilOwn()
    if (files.exists(file => named(FileFilter.hashOf(file.path)))) read else last
  }

  /** Why a rewrite of these files can't be committed, if the versions that were read say so. */
  def conflictOf(paths: Seq[String]): Option[ConcurrentModificationException] = synchronized {
    readUntilOwn()
    refused.orElse(
      paths.iterator.flatMap(path => removed.get(FileFilter.hashOf(path))).nextOption().map(
        DeltaErrors.concurrentDeleteReadException(None, table, _, None)))
  }

  /** Records that a change of metadata or protocol made all further commits of the run impossible. */
  def refuseAll(conflict: ConcurrentModificationException): Unit =
    synchronized { refused = refused.orElse(Some(conflict)) }

  /** Records a committed transaction of the run.
    *
    * @param isFit whether what is written for the plan fits the metadata and protocol after it
    */
  def add(committed: DeltaTransaction, isFit: Snapshot => Boolean): Unit = synchronized {
    committed.postCommitSnapshot.foreach(after => own.enqueue(after -> isFit): Unit)
  }

  private def readUntilOwn(): Unit = while (own.nonEmpty) {
    val (after, isFit) = own.dequeue()
    if (after.version > last.version && readUntil(after.version, isFit(after))) last = after
  }

  /** Records that what is written for the plan fits a later snapshot's metadata and protocol. */
  def accept(now: Snapshot): Unit = synchronized {
    readUntilOwn()
    if (now.version > last.version && readUntil(now.version + 1, isFit = true)) last = now
  }

  /** Reads others' versions after `last`, and before this one. It is no matter if that fails.
    *
    * @param isFit whether changes of metadata and protocol are known to be harmless
    * @return whether no version is missing, and a check may begin after them
    */
  private def readUntil(version: Long, isFit: => Boolean): Boolean = {
    var next = last.version + 1
    var fits = true
    if (next < version) {
      try {
        val versions = read.deltaLog.getChanges(next, catalogTable)
        // Nothing more than needed: each version is parsed when the iterator arrives there.
        while (next < version && fits && versions.hasNext) {
          val (number, actions) = versions.next()
          // A version that is being backfilled may come twice. A store that isn't atomic may show
          // one before it has anything.
          if (number > next || (number == next && actions.isEmpty)) fits = false
          else if (number == next) {
            actions.foreach(note(number, _))
            fits = !actions.exists(changesTable) || isFit
            next += 1
          }
        }
      } catch {
        case NonFatal(e) =>
          fits = false
          // What the caller has determined stays true; the run ends at the next step that looks.
          if (Causes.of(e).exists(Causes.isInterruption)) Thread.currentThread().interrupt()
      }
    }
    fits && next == version
  }

  private def note(version: Long, action: Action): Unit = action match {
    case file: FileAction if !mayAsk(file.path) =>
    case file: AddFile =>
      val hash = FileFilter.hashOf(file.path)
      named += hash
      // RESTORE brings files back. Of a file with another deletion vector the same version has both
      // actions, in either order.
      if (removed.get(hash).exists(_ < version)) removed -= hash: Unit
    case file: RemoveFile =>
      val hash = FileFilter.hashOf(file.path)
      named += hash
      removed += hash -> version: Unit
    case _ =>
  }

  private def changesTable(action: Action): Boolean = action match {
    case _: Metadata | _: Protocol => true
    case _ => false
  }
}
