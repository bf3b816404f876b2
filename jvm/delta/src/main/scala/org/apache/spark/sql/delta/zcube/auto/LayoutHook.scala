package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.hooks.{AutoCompact, PostCommitHook}
import org.apache.spark.sql.delta.{CommittedTransaction, OptimisticTransaction}

/** Replaces Delta's auto compaction among the hooks of a transaction.
  *
  * Delta's writer registers its own hook at the end of each write, unless an equal one is already
  * registered. This hook is registered earlier and claims to be equal, so Delta's isn't added. From
  * the comparison it knows whether Delta wanted a hook; otherwise it does nothing. If some Delta
  * version compares hooks differently, both are registered: Delta's works as usual, and this one
  * does nothing.
  */
final class LayoutHook extends PostCommitHook {

  override val name: String = AutoCompact.name

  @volatile private var wanted = false

  /** Whether Delta has asked for its own. */
  def isWanted: Boolean = wanted

  override def run(spark: SparkSession, txn: CommittedTransaction): Unit =
    if (wanted) AutoLayout.run(spark, txn)

  override def equals(other: Any): Boolean = other match {
    case AutoCompact =>
      wanted = true
      true
    case _ => other.isInstanceOf[LayoutHook]
  }

  override def hashCode: Int = AutoCompact.hashCode
}

object LayoutHook {

  /** Registers once for each transaction, however often it is called. */
  def register(txn: OptimisticTransaction): Unit = {
    val layout = new LayoutHook
    // If there is one already, the new one is dropped, and so is the hook that asks it.
    txn.registerPostCommitHook(layout)
    txn.registerPostCommitHook(new ManifestHook(txn, layout))
  }
}
