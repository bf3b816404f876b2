package io.zcube.delta

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.delta.zcube.TakeOverOptimize

import io.zcube.sql.SessionExtensionPart

/** What ZCube adds to a session that has Delta. */
final class DeltaSessionExtensionPart extends SessionExtensionPart {

  override def requires: String = "org.apache.spark.sql.delta.commands.OptimizeTableCommand"

  override def inject(extensions: SparkSessionExtensions): Unit =
    // Post-hoc: by then Delta's command is resolved, whoever made it (SQL, DeltaTable, Connect).
    extensions.injectPostHocResolutionRule(TakeOverOptimize(_))
}
