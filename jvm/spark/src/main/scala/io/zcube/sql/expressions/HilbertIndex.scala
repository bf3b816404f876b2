package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{ConditionalExpression, Expression, ExpressionDescription}
import org.apache.spark.sql.types._

import io.zcube.curve.SpaceFillingCurve

/** Position of a point on the Hilbert curve ([[io.zcube.curve.HilbertCurve]]).
  *
  * BIGINT if columns × bits is at most 63, otherwise BINARY in curve order; NULL if a column is
  * NULL. A coordinate outside [0, 2^bits) raises ZCUBE_HILBERT_VALUE_OUT_OF_RANGE.
  *
  * @param children the number of bits, then the columns
  */
@ExpressionDescription(
  usage = """
    _FUNC_(bits, expr1, expr2, ...) - Returns the position of the point (expr1, expr2, ...) on the
      Hilbert curve through a grid of 2^bits cells a side: a BIGINT where bits times the number of
      coordinates is at most 63, else a BINARY whose unsigned byte order is the curve's order.""",
  arguments =
    """
    Arguments:
      * bits - a constant INT from 1 to 32: how many bits each coordinate has.
      * exprN - a BIGINT, INT, SMALLINT or TINYINT from 0 to 2^bits - 1; a value outside is an error.
          The result is NULL if a coordinate is NULL.
  """,
  examples = """
    Examples:
      > SELECT _FUNC_(2, 2, 0);
       14
      > SELECT _FUNC_(5, 5, 10, 20);
       7865
      > SELECT hex(_FUNC_(32, 0, 1));
       0000000000000003
      > SELECT _FUNC_(2, NULL, 0);
       NULL
  """,
  note = """
    Coordinates are read from left to right, up to the first NULL.
  """,
  since = "0.1.0",
  group = "math_funcs"
)
case class HilbertIndex(children: Seq[Expression]) extends Expression with ConditionalExpression {

  // A column after a NULL isn't evaluated, so generated code must not share its parts beforehand,
  // and a constant that fails there must not fail the optimizer.
  override def alwaysEvaluatedInputs: Seq[Expression] = children.take(2)
  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): HilbertIndex =
    copy(children = inputs ++ children.drop(2))
  override def branchGroups: Seq[Seq[Expression]] = Nil

  private def columns: Seq[Expression] = children.tail
  private lazy val bits: Int = children.head.eval().asInstanceOf[Number].intValue
  private lazy val isWide: Boolean =
    columns.length > 1 && columns.length.toLong * bits > SpaceFillingCurve.MaxIndexBits

  override def dataType: DataType = if (isWide) BinaryType else LongType
  override def nullable: Boolean = columns.exists(_.nullable)
  override def prettyName: String = "hilbert_index"

  override def checkInputDataTypes(): TypeCheckResult =
    if (children.length < 2) {
      ArgumentChecks.wrongNumberOfArguments(prettyName, "> 1", children.length)
    } else {
      ArgumentChecks.constantInt(children.head, "bits", index = 0, 1 to 32)
        .orElse(ArgumentChecks.firstOfAnotherType(columns, ArgumentChecks.Integral, offset = 1))
        .getOrElse(TypeCheckSuccess)
    }

  @transient private lazy val kernel = new HilbertKernel(columns.length, bits)

  override def eval(input: InternalRow): Any = {
    val point = new Array[Int](columns.length)
    var anyNull = false
    var i = 0
    while (i < point.length && !anyNull) {
      val value = columns(i).eval(input)
      if (value == null) anyNull = true
      else point(i) = kernel.coordinate(value.asInstanceOf[Number].longValue)
      i += 1
    }
    if (anyNull) null else if (isWide) kernel.bytes(point) else kernel.index(point)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val reference = ctx.addReferenceObj("hilbert", kernel)
    val point = ctx.addMutableState("int[]", "point", v => s"$v = new int[${columns.length}];")
    val anyNull = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "anyNull")
    val steps = columns.zipWithIndex.map { case (column, i) =>
      val value = column.genCode(ctx)
      val step =
        if (column.dataType == NullType) s"$anyNull = true;"
        else {
          s"""if (${value.isNull}) { $anyNull = true; }
             |else { $point[$i] = $reference.coordinate((long) ${value.value}); }""".stripMargin
        }
      // Like eval: arguments after a NULL are not evaluated.
      s"if (!$anyNull) {\n${value.code}\n$step\n}"
    }
    val javaType = CodeGenerator.javaType(dataType)
    val result = if (isWide) s"$reference.bytes($point)" else s"$reference.index($point)"
    ev.copy(code = code"""
      $anyNull = false;
      ${ctx.splitExpressionsWithCurrentInputs(steps, prettyName)}
      final boolean ${ev.isNull} = $anyNull;
      final $javaType ${ev.value} =
        ${ev.isNull} ? ${CodeGenerator.defaultValue(dataType)} : $result;""")
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): HilbertIndex = copy(children = newChildren)
}
