package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression, ExpressionDescription, RowOrdering, Unevaluable}
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
      rows that the operator reads, before it filters them, taken by one Spark job.""",
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
      TypeCheckFailure(
        s"the first argument of $prettyName must have a type with an order, not ${left.dataType.sql}")
    } else if (!right.foldable || !ArgumentChecks.isIntOrNarrower(right.dataType)) {
      TypeCheckFailure(s"the number of ranges of $prettyName must be a constant INT")
    } else {
      Option(right.eval()).map(_.asInstanceOf[Number].intValue) match {
        case Some(n) if n >= 1 && n <= RangePartitionId.MaxRanges => TypeCheckSuccess
        case other =>
          TypeCheckFailure(
            s"the number of ranges of $prettyName must be 1 to ${RangePartitionId.MaxRanges}, " +
              s"not ${other.getOrElse("NULL")}")
      }
    }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): RangePartitionId =
    copy(left = l, right = r)
}

object RangePartitionId {
  val MaxRanges: Int = 1 << 20
}
