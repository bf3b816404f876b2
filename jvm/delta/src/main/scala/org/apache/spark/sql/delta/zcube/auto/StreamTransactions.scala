package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}

/** Gives each transaction that begins on a stream's thread a [[LayoutHook]]; otherwise it does nothing,
  * as Delta's default does.
  */
object StreamTransactions extends TransactionExecutionObserver {

  override def startingTransaction(f: => OptimisticTransaction): OptimisticTransaction = {
    val txn = f
    LayoutHook.register(txn)
    txn
  }

  override def preparingCommit[T](f: => T): T = f

  override def beginDoCommit(): Unit = ()

  override def beginBackfill(): Unit = ()

  override def beginPostCommit(): Unit = ()

  override def transactionCommitted(): Unit = ()

  override def transactionAborted(): Unit = ()

  override def createChild(): TransactionExecutionObserver = this
}
