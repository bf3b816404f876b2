package org.apache.spark.sql.delta.zcube.auto

import scala.util.control.NonFatal

import org.apache.spark.sql.delta.actions.Protocol
import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.hooks._
import org.apache.spark.sql.delta.metering.DeltaLogging
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.AutoCompactPartitionStats
import org.apache.spark.sql.delta.zcube.format.{DeltaSettings, DeltaVersion, LastVersion}
import org.apache.spark.sql.delta.zcube.table.{DeltaTableCommand, FileLayout, LastLayout, SnapshotState, TableColumns}
import org.apache.spark.sql.delta.{CommittedTransaction, Snapshot}
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.clustering.plan.{OptimizeOptions, OptimizeTask}
import io.zcube.clustering.run.{LayoutSession, OptimizeRunner}
import io.zcube.clustering.table.WhereClause
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors

/** Auto compaction. Delta decides whether and where there is work to do. On a table that ZCube lays
  * out, the work is an incremental OPTIMIZE by ZCube, which leaves most files unchanged; Delta's
  * own would rewrite a clustered table completely each time. On other tables, Delta does
  * everything.
  */
object AutoLayout extends DeltaLogging {

  /** Runs after a commit. Delta handles exceptions from it like the failure of any hook. */
  def run(spark: SparkSession, txn: CommittedTransaction): Unit = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val isOurs = session.sessionState.conf.getConf(ZCubeConf.Enabled) &&
      mayLayOut(txn.postCommitSnapshot.protocol)
    if (!isOurs || !isOn(session, txn)) {
      AutoCompact.run(spark, txn)
    } else {
      val request = AutoCompactUtils.prepareAutoCompactRequest(session, txn, OpType, None)
      if (request.shouldCompact && !layOut(session, txn, request)) AutoCompact.run(spark, txn)
    }
  }

  /** Delta's conditions for auto compaction. */
  private def isOn(session: SparkSession, txn: CommittedTransaction): Boolean =
    AutoCompact
      .getAutoCompactType(session.sessionState.conf, txn.postCommitSnapshot.metadata)
      .isDefined && AutoCompactUtils.isQualifiedForAutoCompact(session, txn)

  /** @return whether ZCube handled it; if not, nothing was done */
  private def layOut(
      session: classic.SparkSession,
      txn: CommittedTransaction,
      request: AutoCompactRequest): Boolean = {
    val tableId = txn.deltaLog.unsafeVolatileTableId
    try recordDeltaOperation(txn.deltaLog, OpType) {
        val snapshot = txn.deltaLog.update(catalogTableOpt = txn.catalogTable)
        SnapshotState.build(session, snapshot)
        val ours = taskOf(session, txn, snapshot, request)
        ours.foreach { task =>
          LayoutSession.using(session, task.version)(clone =>
            LastVersion.within(session, clone)(new OptimizeRunner(clone, task).run())): Unit
          // Before they are released, as in Delta.
          AutoCompactPartitionStats.instance(session)
            .markPartitionsAsCompacted(tableId, request.allowedPartitions)
        }
        ours.isDefined
      }
    catch {
      case NonFatal(e) =>
        logError(s"Auto compaction by ZCube failed: ${e.getMessage}")
        recordDeltaEvent(txn.deltaLog, s"$OpType.error", data = getErrorData(e))
        throw e
      // Delta would propagate these to a write that is committed, and that would then be repeated.
      case e @ (_: LinkageError | _: VirtualMachineError) =>
        throw ZCubeErrors.autoCompactionFailed(
          DeltaTableCommand.nameOf(txn.catalogTable, txn.deltaLog.dataPath),
          e)
    } finally
      if (AutoCompactUtils.reservePartitionEnabled(session)) {
        AutoCompactPartitionReserve.releasePartitions(tableId, request.allowedPartitions)
      }
  }

  /** The task; None for a table that ZCube doesn't lay out. */
  private def taskOf(
      session: classic.SparkSession,
      txn: CommittedTransaction,
      snapshot: Snapshot,
      request: AutoCompactRequest): Option[OptimizeTask] = {
    val conf = session.sessionState.conf
    val size = conf.getConf(DeltaSQLConf.DELTA_AUTO_COMPACT_MAX_FILE_SIZE)
    def task(layout: FileLayout, declared: Boolean, dueBelow: Option[Long]) = OptimizeTask(
      DeltaVersion.of(txn.deltaLog, txn.catalogTable, snapshot),
      WhereClause(request.targetPartitionsPredicate, request.targetPartitionsPredicate),
      layout.columns,
      declared,
      isFull = false,
      OptimizeOptions.of(Nil, layout.curve),
      DeltaSettings.of(conf, DeltaOptimizeContext(None, dueBelow, Some(size))),
      layout.weights,
      isAuto = true
    )
    if (ClusteredTableUtils.isSupported(snapshot.protocol)) {
      // After CLUSTER BY NONE, it has none: what it was Z-ordered by before no longer counts.
      // Otherwise the same as OPTIMIZE without options.
      Option(TableColumns.clusteringColumns(session, snapshot)).filter(_.nonEmpty).map(columns =>
        task(FileLayout(columns, ZCubeConf.curve(conf), Nil), declared = true, None))
    } else {
      // It wasn't requested to lay out the whole table: large files in no cube stay.
      val small = conf.getConf(DeltaSQLConf.DELTA_AUTO_COMPACT_MIN_FILE_SIZE).getOrElse(size / 2)
      LastLayout.zOrder(session, snapshot).map(task(_, declared = false, Some(small)))
    }
  }

  /** In the preview of adaptive metadata, a removal refers to a place in the manifests of the version that
    * was read. Delta rejects one from an older version only within one transaction, and ZCube's later
    * commits, like its retries, are transactions of their own: the file would be live again beside what
    * replaced it. (OPTIMIZE is blocked on such tables.)
    */
  private[auto] def mayLayOut(protocol: Protocol): Boolean =
    !protocol.readerAndWriterFeatureNames.exists(_.startsWith("adaptiveMetadata"))

  /** The operation type in Delta's events; Delta's own auto compaction has a different one. */
  private val OpType = "delta.commit.hooks.zcubeAutoLayout"
}
