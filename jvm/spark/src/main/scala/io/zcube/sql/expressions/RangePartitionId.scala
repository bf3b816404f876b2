package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{DataTypeMismatch, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Cast, Expression, ExpressionDescription, RowOrdering, Unevaluable}
import org.apache.spark.sql.types.{DataType, IntegerType, NullType}

/** Placeholder for the approximate rank of a value: the ranges are known only after its input was
  * sampled. [[io.zcube.sql.rules.PullOutRangePartitionId]] fixes the input at analysis;
  * [[io.zcube.sql.rules.RangePartitionIdRewrite]] samples it and replaces this with [[RangeIdOf]].
  *
  * @param left  the value
  * @param right the number of ranges, a constant INT of 1 to [[RangePartitionId.MaxRanges]]
  */
@ExpressionDescription(
  usage =
    """
    _FUNC_(expr, n) - Divides the values of expr into n ranges of about as many rows each and returns
      the number of the range, 0 to n - 1: an approximate rank. The ranges come from a sample of the
      rows that the operator reads, before it filters them. Usually one Spark job draws it.""",
  arguments = """
    Arguments:
      * expr - a value of any type that can be ordered. NULL has the id 0.
      * n - a constant INT from 1 to 1048576.
  """,
  examples = """
    Examples:
      > SELECT x, _FUNC_(x, 3) FROM VALUES (0), (1), (3), (15), (36), (99) AS t(x) ORDER BY x;
       0	0
       1	0
       3	1
       15	1
       36	2
       99	2
  """,
  since = "0.1.0",
  group = "misc_funcs"
)
case class RangePartitionId(left: Expression, right: Expression)
    extends BinaryExpression
    with Unevaluable {

  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "range_partition_id"

  /** The number of ranges. */
  lazy val ranges: Int = right.eval().asInstanceOf[Number].intValue

  override def checkInputDataTypes(): TypeCheckResult =
    if (left.dataType != NullType && !RowOrdering.isOrderable(left.dataType)) {
      DataTypeMismatch(
        "INVALID_ORDERING_TYPE",
        Map(
          "functionName" -> Cast.toSQLId(prettyName),
          "dataType" -> Cast.toSQLType(left.dataType)))
    } else {
      ArgumentChecks.constantInt(right, "n", index = 1, 1 to RangePartitionId.MaxRanges)
        .getOrElse(TypeCheckSuccess)
    }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): RangePartitionId =
    copy(left = l, right = r)
}

object RangePartitionId {
  val MaxRanges: Int = 1 << 20
}
