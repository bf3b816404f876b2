package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.expressions.{DirectShufflePartitionID, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression}

/** A shuffle that sends each row to the partition with its number, built into Spark 4.1 and later.
  */
object PartitionShuffle {

  /** @param number an INT, 0 to `partitions` - 1, never NULL */
  def byNumber(number: Expression, partitions: Int, child: LogicalPlan): LogicalPlan =
    RepartitionByExpression(Seq(DirectShufflePartitionID(number)), child, Some(partitions))
}
