package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.{NoOpTransactionExecutionObserver, OptimisticTransaction, TransactionExecutionObserver}

/** Sees to it that each transaction that writes has a [[LayoutHook]]; it changes no plan.
  *
  * While Delta writes, the query that is written, and the expression of its statistics, are analyzed and
  * optimized on the thread that has the transaction active. Only the streaming sink makes none active:
  * its transactions are met where they begin, on the stream's own thread, which has planned its batch by
  * then.
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

  /** A local property of the threads of streaming queries. */
  private val StreamingQueryId = "sql.streaming.queryId"
}
