package io.zcube.sql.expressions

import org.apache.spark.SPARK_DOC_ROOT
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.DataTypeMismatch
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.types._

/** Argument checks of the curve functions, with Spark's own error conditions. */
private[expressions] object ArgumentChecks {

  /** Types accepted without a cast; an untyped NULL is always accepted. */
  val UpToInt: Seq[DataType] = Seq(IntegerType, ShortType, ByteType)

  val Integral: Seq[DataType] = LongType +: UpToInt

  /** Whether an argument is accepted as an INT without a cast. */
  def isIntOrNarrower(dataType: DataType): Boolean =
    dataType == NullType || UpToInt.contains(dataType)

  /** Raises `WRONG_NUM_ARGS.WITHOUT_SUGGESTION`, as Spark does for its own functions. */
  def wrongNumberOfArguments(function: String, expected: String, actual: Int): Nothing =
    throw new AnalysisException(
      errorClass = "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
      messageParameters = Map(
        "functionName" -> Cast.toSQLId(function),
        "expectedNum" -> expected,
        "actualNum" -> actual.toString,
        "docroot" -> SPARK_DOC_ROOT)
    )

  /** `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` for the first argument with none of the types.
    *
    * @param offset number of arguments of the function before these
    */
  def firstOfAnotherType(
      arguments: Seq[Expression],
      accepted: Seq[DataType],
      offset: Int = 0): Option[TypeCheckResult] =
    arguments.zipWithIndex.collectFirst {
      case (child, index) if child.dataType != NullType && !accepted.contains(child.dataType) =>
        DataTypeMismatch(
          errorSubClass = "UNEXPECTED_INPUT_TYPE",
          messageParameters = Map(
            "paramIndex" -> ordinal(index + offset),
            "requiredType" -> accepted.map(Cast.toSQLType(_)).mkString("(", " or ", ")"),
            "inputSql" -> Cast.toSQLExpr(child),
            "inputType" -> Cast.toSQLType(child.dataType)
          )
        )
    }

  private def ordinal(index: Int): String = index match {
    case 0 => "first"
    case 1 => "second"
    case 2 => "third"
    case 3 => "fourth"
    case 4 => "fifth"
    case _ => s"${index + 1}th"
  }
}
