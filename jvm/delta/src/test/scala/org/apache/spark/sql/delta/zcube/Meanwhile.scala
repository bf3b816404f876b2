package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.{OptimisticTransaction, TransactionExecutionObserver}

/** Does something on another thread just before the first transaction of this one begins, or just before
  * it commits.
  */
final class Meanwhile(beforeItBegins: Boolean, action: () => Unit)
    extends TransactionExecutionObserver {

  private var done = false

  private def act(): Unit = if (!done) {
    done = true
    val other = new Thread(() => action())
    other.start()
    other.join()
  }

  override def createChild(): TransactionExecutionObserver = this

  override def startingTransaction(f: => OptimisticTransaction): OptimisticTransaction = {
    if (beforeItBegins) act()
    f
  }

  override def beginDoCommit(): Unit = if (!beforeItBegins) act()

  override def preparingCommit[T](f: => T): T = f

  override def beginBackfill(): Unit = ()

  override def beginPostCommit(): Unit = ()

  override def transactionCommitted(): Unit = ()

  override def transactionAborted(): Unit = ()
}
