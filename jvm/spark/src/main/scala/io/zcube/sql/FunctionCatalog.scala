package io.zcube.sql

import scala.reflect.ClassTag

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.analysis.FunctionRegistryBase
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

import io.zcube.sql.expressions.{HilbertIndex, InterleaveBits, RangePartitionId}

/** The SQL functions that the extension registers. */
object FunctionCatalog {

  type Description = (FunctionIdentifier, ExpressionInfo, FunctionBuilder)

  val all: Seq[Description] = Seq(
    describe[InterleaveBits]("interleave_bits"),
    describe[HilbertIndex]("hilbert_index"),
    describe[RangePartitionId]("range_partition_id"))

  private def describe[T <: Expression: ClassTag](name: String): Description = {
    val (info, builder) = FunctionRegistryBase.build[T](name, None)
    (FunctionIdentifier(name), info, builder)
  }
}
