package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.hooks.AutoCompact
import org.apache.spark.sql.delta.zcube.commit.StandInHook
import org.apache.spark.sql.delta.{CommittedTransaction, OptimisticTransaction}

/** Takes the place of Delta's auto compaction. */
final class LayoutHook extends StandInHook(AutoCompact) {

  override protected def takesPlace: Boolean = true

  override protected def runInPlace(spark: SparkSession, committed: CommittedTransaction): Unit =
    AutoLayout.run(spark, committed)
}

object LayoutHook {

  /** Registers once for each transaction, however often it is called. */
  def register(txn: OptimisticTransaction): Unit = {
    val layout = new LayoutHook
    // If one is already registered, Delta ignores the new one, and also the manifest hook that
    // depends on the new one.
    txn.registerPostCommitHook(layout)
    txn.registerPostCommitHook(new ManifestHook(txn, layout))
  }
}
