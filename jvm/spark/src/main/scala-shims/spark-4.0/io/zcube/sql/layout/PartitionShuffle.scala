package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Murmur3HashFunction}
import org.apache.spark.sql.catalyst.expressions.{ElementAt, Literal => Lit}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.{ArrayType, IntegerType}

/**
 * A shuffle that sends each row to the partition with its number. Spark 4.0 can only partition by
 * hash, so each number is first replaced by an INT whose hash maps to that partition.
 */
object PartitionShuffle {

  /** @param number an INT, 0 to `partitions` - 1, never NULL */
  def byNumber(number: Expression, partitions: Int, child: LogicalPlan): LogicalPlan = {
    val table = Lit(
      new GenericArrayData(preimages(partitions)),
      ArrayType(IntegerType, containsNull = false))
    val index = org.apache.spark.sql.catalyst.expressions.Add(number, Literal(1))
    RepartitionByExpression(Seq(ElementAt(table, index)), child, Some(partitions))
  }

  /** For each partition, the smallest non-negative INT that hash partitioning sends there. */
  private def preimages(partitions: Int): Array[Int] = {
    val found = Array.fill(partitions)(-1)
    var missing = partitions
    var candidate = 0
    while (missing > 0) {
      // 42 is the seed of Spark's hash partitioning.
      val hash = Murmur3HashFunction.hash(candidate, IntegerType, 42L).toInt
      val partition = java.lang.Math.floorMod(hash, partitions)
      if (found(partition) < 0) {
        found(partition) = candidate
        missing -= 1
      }
      candidate += 1
    }
    found
  }
}
