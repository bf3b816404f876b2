package org.apache.spark.sql.delta.zcube.declare

import io.delta.exceptions.ConcurrentTransactionException
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.V1Write
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.sources.InsertableRelation
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{DataFrame, classic}

/** Rows that may only be written by a transaction that finds the table with these clustering columns. */
final case class WithSameColumns(columns: Seq[String], child: LogicalPlan) extends UnaryNode {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): WithSameColumns =
    copy(child = newChild)
}

object WithSameColumns {

  /** Delta optimizes the rows after its transaction has begun; from then on, Delta itself checks
    * for other transactions. Before that, an ALTER TABLE … CLUSTER BY may have been committed,
    * which must not be undone.
    */
  object Check extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = OptimisticTransaction.getActive() match {
      case None => plan
      case Some(txn) =>
        plan.transform { case WithSameColumns(columns, child) =>
          val now = PreservedColumns.of(txn.snapshot)
          if (now != columns) {
            throw new ConcurrentTransactionException(
              s"The table was clustered by (${columns.mkString(", ")}) when the overwrite was " +
                s"analyzed, and is clustered by (${now.mkString(", ")}) now. Repeat the overwrite.")
          }
          child
        }
    }
  }

  /** Tells a staged table which columns the rows rely on. */
  final class Write(original: V1Write, columns: Seq[String]) extends V1Write {
    override def toInsertableRelation(): InsertableRelation = new InsertableRelation {
      override def insert(data: DataFrame, overwrite: Boolean): Unit = {
        val rows = data.asInstanceOf[classic.DataFrame]
        val plan = WithSameColumns(columns, rows.queryExecution.analyzed)
        original
          .toInsertableRelation()
          .insert(Sessions.rowsOf(rows.sparkSession, plan), overwrite)
      }
    }
  }
}
