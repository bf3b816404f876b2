package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}

/** Rows that the driver has, to be broadcast.
  *
  * Unlike with Spark's `LocalRelation`, no job has to collect them: it would need a free core while the
  * statement waits for the broadcast (`spark.sql.broadcastTimeout`), and its tasks would carry the rows
  * (`spark.rpc.message.maxSize`). There is such a job only if the optimizer puts another node above
  * them.
  */
case class KeyRows(output: Seq[Attribute], @transient rows: Seq[UnsafeRow])
    extends LeafNode with MultiInstanceRelation {

  override def newInstance(): KeyRows = copy(output = output.map(_.newInstance()))

  override def maxRows: Option[Long] = Some(rows.size.toLong)

  override def computeStats(): Statistics =
    Statistics(sizeInBytes = rows.iterator.map(row => BigInt(row.getSizeInBytes)).sum.max(1))

  // The values stay out of plans' texts.
  override protected def stringArgs: Iterator[Any] = Iterator(output)
}

object KeyRows {

  /** Plans them. */
  object Strategy extends SparkStrategy {
    override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
      case KeyRows(output, rows) => Seq(KeyRowsExec(output, rows))
      case _ => Nil
    }
  }
}

/** Its rows are with the driver, and not in what is sent to tasks. */
case class KeyRowsExec(output: Seq[Attribute], @transient rows: Seq[UnsafeRow])
    extends LeafExecNode {

  override protected def doExecute(): RDD[InternalRow] =
    if (rows.isEmpty) sparkContext.emptyRDD else sparkContext.parallelize[InternalRow](rows)

  override def executeCollect(): Array[InternalRow] = rows.toArray

  /** What a broadcast calls. */
  override private[spark] def executeCollectIterator(): (Long, Iterator[InternalRow]) =
    (rows.length.toLong, rows.iterator)

  override protected def stringArgs: Iterator[Any] = Iterator(output)
}
