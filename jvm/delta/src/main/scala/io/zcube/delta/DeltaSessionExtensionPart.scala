package io.zcube.delta

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.delta.zcube.auto.RegisterLayoutHook
import org.apache.spark.sql.delta.zcube.commands.{CheckConstraints, ReplaceClusteringStatements, ReplaceOptimize}
import org.apache.spark.sql.delta.zcube.declare._
import org.apache.spark.sql.delta.zcube.merge._

import io.zcube.sql.{SessionExtensionPart, SupportedVersions}

/** What ZCube adds to a session that has Delta. */
class DeltaSessionExtensionPart extends SessionExtensionPart {

  override def requires: String = "org.apache.spark.sql.delta.commands.OptimizeTableCommand"

  /** The Delta version on the class path. */
  protected def deltaVersion: String = io.delta.VERSION

  override def inject(extensions: SparkSessionExtensions): Unit = {
    SupportedVersions.requireDelta(deltaVersion)
    extensions.injectParser((_, parser) => new PreserveClusterByLike.NotingParser(parser))
    extensions.injectHintResolutionRule(PreserveClusterByLike.Note(_))
    extensions.injectResolutionRule(PreserveClusterBy(_))
    extensions.injectResolutionRule(PreserveClusterByOfSaveAsTable(_))
    extensions.injectResolutionRule(_ => RangeIdsOfSource)
    extensions.injectCheckRule(_ => RangeIdsOfSource.Check)
    extensions.injectCheckRule(CheckConstraints(_))
    // Post-hoc: by then Delta's command is resolved, wherever it comes from (SQL, DeltaTable,
    // Connect).
    extensions.injectPostHocResolutionRule(_ => ReplaceClusteringStatements)
    extensions.injectPostHocResolutionRule(ReplaceOptimize(_))
    extensions.injectPostHocResolutionRule(PreserveClusterByLike.Keep(_))
    // In both places, because a plan may already be analyzed or optimized when a write reaches it.
    extensions.injectPostHocResolutionRule(RegisterLayoutHook(_))
    extensions.injectOptimizerRule(RegisterLayoutHook(_))
    // The last point before Spark asks a table for its write.
    extensions.injectPreCBORule(PreserveClusterByOfOverwrites(_))
    extensions.injectPreCBORule(_ => WithSameColumns.Check)
    // Also late: software that checks commands by class must see Delta's class.
    extensions.injectPreCBORule(ReplaceOptimize.Unadorned(_))
    extensions.injectPreCBORule(PruneMerge(_))
    // After all projections above the join have been merged: Spark would push some of them through the union
    // and compute for each row what is meant for some.
    extensions.injectPreCBORule(_ => SplitOuterJoin)
    extensions.injectPreCBORule(_ => UnshuffledFiles)
    extensions.injectPlannerStrategy(_ => TargetWithKeys.Strategy)
    extensions.injectPlannerStrategy(_ => KeyRows.Strategy)
  }
}
