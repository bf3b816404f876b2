package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.hooks.{AutoCompact, PostCommitHook}
import org.apache.spark.sql.delta.{CommittedTransaction, OptimisticTransaction}

/** Stands in the place of Delta's auto compaction among the hooks of one transaction.
  *
  * Delta's writer registers its own at the end of each write, unless an equal one is there already. This
  * one, registered earlier, says that it is equal; so Delta's isn't added, and this one knows whether
  * Delta wanted it, and does nothing otherwise. Should a Delta compare hooks in some other way, it has
  * both: its own does what it ever did, and this one nothing.
  */
final class LayoutHook extends PostCommitHook {

  override val name: String = AutoCompact.name

  @volatile private var wanted = false

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

  /** Once for each transaction, however often it is called. */
  def register(txn: OptimisticTransaction): Unit = txn.registerPostCommitHook(new LayoutHook)
}
