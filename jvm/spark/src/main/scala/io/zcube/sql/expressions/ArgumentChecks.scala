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

  /** What is wrong with an argument that must be a constant INT of a range; it is evaluated only if
    * its type is right.
    *
    * @param name   the parameter's
    * @param index  of the argument
    */
  def constantInt(
      argument: Expression,
      name: String,
      index: Int,
      range: Range.Inclusive): Option[TypeCheckResult] = {
    def rejected(condition: String, parameters: (String, String)*): Option[TypeCheckResult] =
      Some(DataTypeMismatch(condition, parameters.toMap))
    firstOfAnotherType(Seq(argument), UpToInt, index).orElse {
      if (!argument.foldable) {
        rejected(
          "NON_FOLDABLE_INPUT",
          "inputName" -> Cast.toSQLId(name),
          "inputType" -> Cast.toSQLType(IntegerType),
          "inputExpr" -> Cast.toSQLExpr(argument))
      } else {
        Option(argument.eval()).map(_.asInstanceOf[Number].intValue) match {
          case None => rejected("UNEXPECTED_NULL", "exprName" -> Cast.toSQLId(name))
          case Some(value) if range.contains(value) => None
          case Some(value) =>
            rejected(
              "VALUE_OUT_OF_RANGE",
              "exprName" -> Cast.toSQLId(name),
              "valueRange" -> s"[${range.start}, ${range.end}]",
              "currentValue" -> Cast.toSQLValue(value, IntegerType)
            )
        }
      }
    }
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
