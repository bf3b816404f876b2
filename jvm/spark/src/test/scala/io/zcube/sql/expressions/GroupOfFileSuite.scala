package io.zcube.sql.expressions

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, ExpressionEvalHelper}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

class GroupOfFileSuite extends SparkFunSuite with ExpressionEvalHelper {

  // Files of the same name in two folders; a name that is escaped, and one that looks like it.
  private val numbers = Map(
    "file:/t/p=1/a.parquet" -> 0,
    "file:/t/p=2/a.parquet" -> 1,
    "file:/t/p=x%2520y/b.parquet" -> 2,
    "file:/t/p=x%20y/b.parquet" -> 3)

  private val expression =
    GroupOfFile(BoundReference(0, StringType, nullable = true), new GroupOfFile.Groups(numbers))

  private def row(path: String): InternalRow = InternalRow(UTF8String.fromString(path))

  test("each path has its group's number, in any order") {
    for (path <- numbers.keys.toSeq ++ numbers.keys.toSeq.reverse)
      checkEvaluation(expression, numbers(path), row(path))
  }

  test("a path in no group is an error, and so is a missing path") {
    checkExceptionInExpression[Exception](expression, row("file:/t/p=3/a.parquet"), "no group")
    checkExceptionInExpression[Exception](expression, row(null), "no group")
    // The last path that was found is remembered.
    assert(expression.eval(row("file:/t/p=1/a.parquet")) == 0)
    intercept[Exception](expression.eval(row("file:/t/p=1/A.parquet")))
    intercept[Exception](expression.eval(row(null)))
  }
}
