package io.zcube.delta

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.delta.zcube.auto.RegisterLayoutHook
import org.apache.spark.sql.delta.zcube.commands.{ReplaceClusteringStatements, ReplaceOptimize}
import org.apache.spark.sql.delta.zcube.declare.{PreserveClusterBy, PreserveClusterByLike, WithSameColumns}
import org.apache.spark.sql.delta.zcube.merge.PruneMerge

import io.zcube.sql.{SessionExtensionPart, SupportedVersions}

/** What ZCube adds to a session that has Delta. */
class DeltaSessionExtensionPart extends SessionExtensionPart {

  override def requires: String = "org.apache.spark.sql.delta.commands.OptimizeTableCommand"

  /** Of the Delta that is on the class path. */
  protected def deltaVersion: String = io.delta.VERSION

  override def inject(extensions: SparkSessionExtensions): Unit = {
    SupportedVersions.requireDelta(deltaVersion)
    extensions.injectHintResolutionRule(PreserveClusterByLike.Note(_))
    extensions.injectResolutionRule(PreserveClusterBy(_))
    // Post-hoc: by then Delta's command is resolved, whoever made it (SQL, DeltaTable, Connect).
    extensions.injectPostHocResolutionRule(_ => ReplaceClusteringStatements)
    extensions.injectPostHocResolutionRule(ReplaceOptimize(_))
    extensions.injectPostHocResolutionRule(PreserveClusterByLike.Keep(_))
    // Whichever of the two a write comes by: plans may have been analyzed or optimized before.
    extensions.injectPostHocResolutionRule(RegisterLayoutHook(_))
    extensions.injectOptimizerRule(RegisterLayoutHook(_))
    // The last place before Spark asks a table for its write.
    extensions.injectPreCBORule(PreserveClusterBy.OfOverwrites(_))
    extensions.injectPreCBORule(_ => WithSameColumns.Check)
    // As late: who guards commands by their classes must see Delta's.
    extensions.injectPreCBORule(ReplaceOptimize.Unadorned(_))
    extensions.injectPreCBORule(PruneMerge(_))
  }
}
