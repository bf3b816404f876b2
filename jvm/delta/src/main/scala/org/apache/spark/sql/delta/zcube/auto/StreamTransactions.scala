package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}

/** Registers a [[LayoutHook]] for each transaction that begins on a stream's thread; otherwise it
  * does nothing, like Delta's default.
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
