package io.zcube.sql

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSessionExtensions

import io.zcube.sql.parser.ZCubeSqlParser
import io.zcube.sql.rules._

/** Everything that ZCube adds to a session:
  * `spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.zcube.sql.ZCubeSparkSessionExtension`
  * in either order.
  */
class ZCubeSparkSessionExtension extends (SparkSessionExtensions => Unit) {

  /** Of the Spark that runs. */
  protected def sparkVersion: String = SPARK_VERSION

  override def apply(extensions: SparkSessionExtensions): Unit = {
    SupportedVersions.requireSpark(sparkVersion)

    FunctionCatalog.all.foreach(extensions.injectFunction)

    // Parser: takes the OPTIONS clause off OPTIMIZE, whichever parser reads the rest.
    extensions.injectParser((session, delegate) => new ZCubeSqlParser(session, delegate))

    // Hints are gone after their own batch, so ours must become a node there.
    extensions.injectHintResolutionRule(_ => ResolveClusterHint)

    // Post-hoc: names and types are resolved, and the optimizer has moved nothing yet.
    extensions.injectPostHocResolutionRule(_ => PullOutRangePartitionId)

    // Refusals at analysis, before any job runs.
    extensions.injectCheckRule(_ => CheckClusterRows)
    extensions.injectCheckRule(_ => CheckOptimizeOptions)
    extensions.injectCheckRule(_ => CheckRangePartitionId)

    // Optimizer: sampling runs jobs, which analysis must not; and the child is pruned by then.
    extensions.injectOptimizerRule(RangePartitionIdRewrite(_))
    extensions.injectOptimizerRule(ClusterRowsRewrite(_))

    SessionExtensionPart.available().foreach(_.inject(extensions))
  }
}
