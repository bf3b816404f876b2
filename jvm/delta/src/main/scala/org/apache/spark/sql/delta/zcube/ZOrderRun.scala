package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.AtomicBoolean
import java.util.{ConcurrentModificationException, UUID}

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.util.BinPackingUtils
import org.apache.spark.util.{SystemClock, ThreadUtils}

import io.zcube.sql.errors.ZCubeErrors

/** Runs an OPTIMIZE … ZORDER BY: groups by partition, several at a time; one commit for all of them,
  * or for each batch if `optimize.batchSize` is set.
  */
final class ZOrderRun(session: SparkSession, task: ZOrderTask) {

  private val removedAt = new SystemClock().getTimeMillis()

  /** The row that the command returns. */
  def run(): Row = session.withActive {
    val startedAt = System.currentTimeMillis()
    val files =
      task.snapshot.filesForScan(task.predicates, keepNumRecords = true).files
    val groups = FileGroup.byPartition(session, task.snapshot, files)
    val batches = task.settings.batchBytes match {
      case Some(size) =>
        BinPackingUtils.binPackBySize[FileGroup, FileGroup](groups, _.bytes, identity, size)
      case None => Seq(groups)
    }
    val rewritten = batches.filter(_.nonEmpty).map(rewriteAndCommit)
    ZOrderReport.row(session, task, files.size, groups, rewritten, startedAt)
  }

  private def rewriteAndCommit(batch: Seq[FileGroup]): Seq[RewrittenGroup] = {
    val txn = new ClusteringTransaction(task.snapshot.deltaLog, task.catalogTable, task.snapshot)
    txn.trackFilesRead(batch.flatMap(_.files))
    txn.trackReadPredicates(task.predicates)
    val rewritten =
      try rewriteAll(txn, batch)
      catch {
        case e: Throwable =>
          txn.removeWrittenFiles()
          throw (e match {
            // Spark's own exception for a failed job: say what it means for the table.
            case e: SparkException => ZCubeErrors.rewriteFailed(task.tableName, e)
            case other => other
          })
      }
    if (rewritten.exists(g => g.added.nonEmpty || g.removed.nonEmpty)) {
      try new CommitManager(session, task).commit(txn, rewritten)
      catch {
        // Surely not committed. After any other error the commit may have gone through.
        case e: ConcurrentModificationException =>
          txn.removeWrittenFiles()
          throw e
      }
    }
    rewritten
  }

  /** Rewrites the groups in parallel. After the first failure nothing new starts. */
  private def rewriteAll(
      txn: ClusteringTransaction,
      batch: Seq[FileGroup]): Seq[RewrittenGroup] = {
    val context = session.sparkContext
    val tag = s"zcube-${UUID.randomUUID()}"
    val failed = new AtomicBoolean(false)
    val rewrite = new GroupRewrite(session, task, txn)
    def one(group: FileGroup): Option[Try[RewrittenGroup]] = Option.when(!failed.get) {
      context.addJobTag(tag)
      val outcome = Try(session.withActive(rewrite.run(group, removedAt)))
      context.removeJobTag(tag)
      // The files of what still runs are removed afterwards, so it must come to its end first.
      if (outcome.isFailure && !failed.getAndSet(true)) context.cancelJobsWithTag(tag)
      outcome
    }
    try {
      val outcomes =
        ThreadUtils.parmap(batch, "ZCubeOptimize", task.settings.maxThreads)(one).flatten
      val failures = outcomes.collect { case Failure(e) => e }
      // Jobs that were cancelled for the first failure's sake are not the cause.
      failures.find(!isCancellation(_, tag)).orElse(failures.headOption).foreach(throw _)
      outcomes.collect { case Success(group) => group }
    } catch {
      case e: InterruptedException =>
        failed.set(true)
        context.cancelJobsWithTag(tag)
        throw e
    }
  }

  private def isCancellation(e: Throwable, tag: String): Boolean =
    Option(e.getMessage).exists(m => m.contains("cancelled") && m.contains(tag))
}
