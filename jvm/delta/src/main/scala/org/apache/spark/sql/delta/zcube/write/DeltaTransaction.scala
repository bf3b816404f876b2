package org.apache.spark.sql.delta.zcube.write

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkContext
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.delta.actions.FileAction
import org.apache.spark.sql.delta.constraints.Constraint
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.sql.delta.stats.{DeltaJobStatisticsTracker, StatisticsCollection}
import org.apache.spark.sql.delta.{CurrentTransactionInfo, DeltaConfigs, DeltaLog, DeltaOptions, IsolationLevel, NoMapping, OptimisticTransaction, Snapshot}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zcube.TaskTracker
import org.apache.spark.sql.{DataFrame, Dataset}
import org.apache.spark.util.CollectionAccumulator

import io.zcube.clustering.run.Workers
import io.zcube.concurrent.DeferredInterrupt

/** Delta's transaction, which also records the files written under it, so that it can remove them,
  * and the versions that it tried to commit. Delta itself leaves the files of a failed OPTIMIZE to
  * VACUUM.
  */
final class DeltaTransaction(
    context: SparkContext,
    override val deltaLog: DeltaLog,
    override val catalogTable: Option[CatalogTable],
    override val snapshot: Snapshot)
    extends OptimisticTransaction(deltaLog, catalogTable, snapshot) {
  import DeltaTransaction._

  private val made = new CollectionAccumulator[String]
  made.register(context, None, countFailedValues = true)

  @volatile private var tried = Set.empty[Long]
  @volatile private var afterCommit: Option[Snapshot] = None

  /** The versions that may have been written: all that were, and perhaps some that were not. */
  def triedVersions: Set[Long] = tried

  /** The snapshot right after the commit, if Delta provides it; None before. */
  def postCommitSnapshot: Option[Snapshot] = afterCommit

  override protected def doCommitRetryIteratively(
      attemptVersion: Long,
      currentTransactionInfo: CurrentTransactionInfo,
      isolationLevel: IsolationLevel): (Long, Snapshot, CurrentTransactionInfo) = {
    tried += attemptVersion
    val committed @ (version, after, _) =
      super.doCommitRetryIteratively(attemptVersion, currentTransactionInfo, isolationLevel)
    afterCommit = Some(after).filter(_.version == version)
    committed
  }

  /** Delta calls this before it tries the next version, which this returns. */
  override protected def checkForConflicts(
      checkVersion: Long,
      currentTransactionInfo: CurrentTransactionInfo,
      attemptNumber: Int,
      commitIsolationLevel: IsolationLevel): (Long, CurrentTransactionInfo) = {
    val (version, info) = super.checkForConflicts(
      checkVersion,
      currentTransactionInfo,
      attemptNumber,
      commitIsolationLevel)
    tried += version
    (version, info)
  }

  /** Delta's own; if it fails, it returns only after the last of its tasks has ended. */
  override def writeFiles(
      inputData: Dataset[_],
      writeOptions: Option[DeltaOptions],
      isOptimize: Boolean,
      additionalConstraints: Seq[Constraint]): Seq[FileAction] =
    new TaskTracker(context, Some(made))
      .within(super.writeFiles(inputData, writeOptions, isOptimize, additionalConstraints))

  override protected def getCommitter(outputPath: Path): DelayedCommitProtocol = {
    // The same choice as in Delta, which has no hook for the protocol alone.
    val randomized = DeltaConfigs.RANDOMIZE_FILE_PREFIXES.fromMetaData(metadata) ||
      metadata.columnMappingMode != NoMapping
    val prefix = Option.when(randomized)(DeltaConfigs.RANDOM_PREFIX_LENGTH.fromMetaData(metadata))
    new CleaningCommitProtocol(outputPath.toString, prefix, deltaDataSubdir, made)
  }

  override protected def getOptionalStatsTrackerAndStatsCollection(
      output: Seq[Attribute],
      outputPath: Path,
      partitionSchema: StructType,
      data: DataFrame): (Option[DeltaJobStatisticsTracker], Option[StatisticsCollection]) = {
    val (tracker, collection) =
      super.getOptionalStatsTrackerAndStatsCollection(output, outputPath, partitionSchema, data)
    val conf = deltaLog.newDeltaHadoopConf()
    val ours = tracker.map(t => new StatsTracker(conf, outputPath, t.dataCols, t.statsColExpr))
    (ours, collection)
  }

  /** Removes what was written. Only for a transaction that certainly did not and will not commit.
    */
  def removeWrittenFiles(): Unit = remove(made.value.asScala)

  /** @param paths paths of written files that certainly are not and will not be committed */
  def remove(paths: Iterable[String]): Unit = DeferredInterrupt.within {
    lazy val fs = deltaLog.dataPath.getFileSystem(deltaLog.newDeltaHadoopConf())
    // VACUUM removes what can't be removed now; the original error matters more.
    def removed(path: String): Unit =
      try fs.delete(new Path(path), false): Unit
      catch {
        case NonFatal(e) => logWarning(s"ZCube could not remove the uncommitted file $path", e)
      }
    try new Workers("ZCubeRemove", RemovedAtOnce).map(paths.toSet.toSeq)(removed): Unit
    catch { case _: InterruptedException => Thread.currentThread().interrupt() }
  }
}

object DeltaTransaction {

  /** There may be tens of thousands of files, and stores take a tenth of a second for each. */
  private val RemovedAtOnce = 16
}
