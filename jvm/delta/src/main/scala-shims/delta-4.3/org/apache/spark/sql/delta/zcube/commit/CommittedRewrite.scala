package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{CommittedTransaction, Snapshot}

object CommittedRewrite {

  /** What Delta hands to the hooks of a commit, if its answer was lost or a hook failed.
    *
    * @param version the version that holds the commit
    * @param now     a version with it, from which hooks read the table's files
    */
  def of(
      txn: DeltaTransaction,
      version: Long,
      changes: RewriteChanges,
      now: Snapshot): CommittedTransaction = CommittedTransaction(
    txnId = txn.txnId,
    deltaLog = txn.deltaLog,
    catalogTable = txn.catalogTable,
    readSnapshot = txn.snapshot,
    committedVersion = version,
    committedActions = changes.actions,
    postCommitSnapshot = now,
    postCommitHooks = Nil,
    txnExecutionTimeMs = 0,
    needsCheckpoint = false,
    partitionsAddedToOpt = None,
    isBlindAppend = false
  )
}
