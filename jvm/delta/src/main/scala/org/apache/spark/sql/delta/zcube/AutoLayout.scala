package org.apache.spark.sql.delta.zcube

import scala.util.control.NonFatal

import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.hooks._
import org.apache.spark.sql.delta.metering.DeltaLogging
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.AutoCompactPartitionStats
import org.apache.spark.sql.delta.{CommittedTransaction, Snapshot}
import org.apache.spark.sql.{SparkSession, classic}

import io.zcube.layout.CurveName
import io.zcube.sql.ZCubeConf

/** Auto compaction. Whether and where there is work to do, Delta decides. On a table that ZCube lays out
  * the work is an incremental OPTIMIZE by ZCube, which leaves most files where they are; Delta's own
  * would rewrite all of a clustered table each time. On other tables it is Delta's, all of it.
  */
object AutoLayout extends DeltaLogging {

  /** After a commit. What it throws, Delta's caller of hooks treats as it does the failure of any hook. */
  def run(spark: SparkSession, txn: CommittedTransaction): Unit = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val isOurs = session.sessionState.conf.getConf(ZCubeConf.Enabled) && isOn(session, txn) &&
      isClustered(txn.postCommitSnapshot)
    if (!isOurs) AutoCompact.run(spark, txn)
    else {
      val request = AutoCompactUtils.prepareAutoCompactRequest(session, txn, OpType, None)
      if (request.shouldCompact) {
        val tableId = txn.deltaLog.unsafeVolatileTableId
        try {
          layOut(session, txn)
          // Before they are free again, as in Delta.
          AutoCompactPartitionStats.instance(session)
            .markPartitionsAsCompacted(tableId, request.allowedPartitions)
        } catch {
          case NonFatal(e) =>
            logError(s"Auto compaction by ZCube failed: ${e.getMessage}")
            recordDeltaEvent(txn.deltaLog, s"$OpType.error", data = getErrorData(e))
            throw e
        } finally {
          if (AutoCompactUtils.reservePartitionEnabled(session)) {
            AutoCompactPartitionReserve.releasePartitions(tableId, request.allowedPartitions)
          }
        }
      }
    }
  }

  /** Delta's own conditions. */
  private def isOn(session: SparkSession, txn: CommittedTransaction): Boolean =
    AutoCompact
      .getAutoCompactType(session.sessionState.conf, txn.postCommitSnapshot.metadata)
      .isDefined && AutoCompactUtils.isQualifiedForAutoCompact(session, txn)

  private def isClustered(snapshot: Snapshot): Boolean =
    ClusteredTableUtils.isSupported(snapshot.protocol) &&
      ClusteredTableUtils.getClusteringColumnsOptional(snapshot).exists(_.nonEmpty)

  private def layOut(session: classic.SparkSession, txn: CommittedTransaction): Unit =
    recordDeltaOperation(txn.deltaLog, OpType) {
      val snapshot = txn.deltaLog.update(catalogTableOpt = txn.catalogTable)
      SnapshotState.build(session, snapshot)
      val conf = session.sessionState.conf
      val size = conf.getConf(DeltaSQLConf.DELTA_AUTO_COMPACT_MAX_FILE_SIZE)
      val task = ClusteringTask(
        snapshot,
        txn.catalogTable,
        WhereClause.Everything,
        ColumnPath.clusteringColumns(session, snapshot),
        clustered = true,
        isFull = false,
        OptimizeOptions.of(Nil, CurveName.Hilbert),
        OptimizeSettings.of(conf, DeltaOptimizeContext(maxFileSize = Some(size))),
        isAuto = true
      )
      new ClusteringRun(LayoutSession.cloneOf(session, snapshot), task).run(): Unit
    }

  /** Of Delta's events; Delta's own auto compaction has another. */
  private val OpType = "delta.commit.hooks.zcubeAutoLayout"
}
