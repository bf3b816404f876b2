package io.zcube.sql

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions

import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.parser.ZCubeSqlParser
import io.zcube.sql.rules._

/** Everything that ZCube adds to a session:
  * `spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension`
  * in either order.
  *
  * @note Public: jobs that were compiled against a release run with later ones.
  */
class ZCubeSparkSessionExtension extends (SparkSessionExtensions => Unit) {

  /** The running Spark version. */
  protected def sparkVersion: String = SPARK_VERSION

  override def apply(extensions: SparkSessionExtensions): Unit = {
    SupportedVersions.requireSpark(sparkVersion)

    // Any use makes the settings known, so that Spark validates them when the session starts. A wrong one
    // would fail every statement that reads it, even the SET that corrects it.
    val _ = ZCubeConf.Enabled

    FunctionCatalog.all.foreach(extensions.injectFunction)
    PermanentFunctions.register()

    // Parser: removes the OPTIONS clause from OPTIMIZE, whichever parser reads the rest.
    extensions.injectParser((session, delegate) => new ZCubeSqlParser(session, delegate))

    // With the other hints, before anything is resolved. On Spark 4.1 and older a session with
    // Hive's catalog has no such rules of extensions; unknown hints are removed after resolution.
    extensions.injectHintResolutionRule(_ => ResolveClusterHint)
    extensions.injectResolutionRule(_ => ResolveClusterHint)

    // Post-hoc: names and types are resolved, and the optimizer hasn't moved anything yet.
    extensions.injectPostHocResolutionRule(_ => PullOutRangePartitionId)

    // Checks at analysis, before any job runs.
    extensions.injectCheckRule(_ => CheckClusterRows)
    extensions.injectCheckRule(_ => CheckOptimizeOptions)
    extensions.injectCheckRule(_ => CheckRangePartitionId)

    // Before the optimizer, which runs subqueries on their own.
    extensions.injectPlanNormalizationRule(_ => DropCopyOfSource)

    // Optimizer: sampling runs jobs, which analysis must not do, and the child is pruned by now.
    extensions.injectOptimizerRule(RangePartitionIdRewrite(_))
    extensions.injectOptimizerRule(ClusterRowsRewrite(_))

    SessionExtensionPart.available().foreach(_.inject(extensions))
  }
}
