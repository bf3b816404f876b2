package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.{NoOpTransactionExecutionObserver, OptimisticTransaction, TransactionExecutionObserver}

/** Registers a [[LayoutHook]] for each transaction that writes; it doesn't change plans.
  *
  * While Delta writes, the query and the expression of its statistics are analyzed and optimized on
  * the thread with the active transaction. Only the streaming sink doesn't make its transaction
  * active: its transactions are intercepted where they begin, on the stream's own thread, which has
  * planned its batch by then.
  */
case class RegisterLayoutHook(session: SparkSession) extends Rule[LogicalPlan] {
  import RegisterLayoutHook._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    OptimisticTransaction.getActive().foreach(LayoutHook.register)
    if (session.sparkContext.getLocalProperty(StreamingQueryId) != null &&
      (TransactionExecutionObserver.getObserver eq NoOpTransactionExecutionObserver)) {
      TransactionExecutionObserver.setObserver(StreamTransactions)
    }
    plan
  }
}

object RegisterLayoutHook {

  /** A local property that streaming queries set on their threads. */
  private val StreamingQueryId = "sql.streaming.queryId"
}
