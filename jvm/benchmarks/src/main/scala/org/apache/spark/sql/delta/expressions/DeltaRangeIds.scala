package org.apache.spark.sql.delta.expressions

import org.apache.spark.Partitioner
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.optimizer.RangePartitionIdRewrite

/** Delta's `range_partition_id` as its own rule plans it: one of Spark's RangePartitioners over rows of one column. */
object DeltaRangeIds {

  /** The partitioner into `count` ranges of the only column of `plan`, by a sample of it. */
  def partitioner(session: SparkSession, plan: LogicalPlan, count: Int): Partitioner = {
    val id = Alias(RangePartitionId(plan.output.head, count), "id")()
    RangePartitionIdRewrite(session)(Project(Seq(id), plan)).expressions
      .flatMap(_.collectFirst { case PartitionerExpr(_, partitioner) => partitioner })
      .head
  }

  /** The bounds of that partitioner, which Spark keeps private. */
  def bounds(partitioner: Partitioner): Array[UnsafeRow] = {
    val field = partitioner.getClass.getDeclaredField("rangeBounds")
    field.setAccessible(true)
    field.get(partitioner).asInstanceOf[Array[InternalRow]].map(_.asInstanceOf[UnsafeRow])
  }
}
