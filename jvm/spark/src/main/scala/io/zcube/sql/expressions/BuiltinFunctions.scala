package io.zcube.sql.expressions

import scala.reflect.ClassTag

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistryBase
import org.apache.spark.sql.catalyst.expressions.Expression

/** The SQL functions that the extension adds to Spark's own. */
object BuiltinFunctions {

  type Description = SparkSessionExtensions#FunctionDescription

  /** A new function is one more line here; its documentation is the annotation on its class. */
  val all: Seq[Description] = Seq(
    function[HilbertIndex]("hilbert_index"),
    function[InterleaveBits]("interleave_bits"))

  /** @tparam E a class with a constructor of one `Seq[Expression]`, or of as many `Expression`s as it has arguments */
  private def function[E <: Expression: ClassTag](name: String): Description = {
    val (info, builder) = FunctionRegistryBase.build[E](name, since = None)
    (FunctionIdentifier(name), info, builder)
  }
}
