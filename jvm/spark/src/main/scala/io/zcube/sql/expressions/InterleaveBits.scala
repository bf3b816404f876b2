package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionDescription}
import org.apache.spark.sql.types._

import io.zcube.curve.BitInterleaver

/** Interleaves the bits of INTs ([[BitInterleaver]]); NULL counts as 0; never NULL itself. */
@ExpressionDescription(
  usage =
    """
    _FUNC_(expr1, expr2, ...) - Returns the interleaved bits of the arguments, as a BINARY of four
      bytes per argument whose unsigned byte order is Z-order.""",
  arguments = """
    Arguments:
      * exprN - an INT, SMALLINT or TINYINT; its 32 bits are taken as they are. NULL counts as 0.
          The bits of the first argument are the most significant.
  """,
  examples = """
    Examples:
      > SELECT hex(_FUNC_(214, 97));
       000000000000B629
      > SELECT hex(_FUNC_(97, 214));
       0000000000007916
      > SELECT hex(_FUNC_(NULL, 1));
       0000000000000001
  """,
  note = """
    The arguments are not cast: truncating a BIGINT to INT would destroy the order.
  """,
  since = "0.1.0",
  group = "bitwise_funcs"
)
case class InterleaveBits(children: Seq[Expression]) extends Expression {

  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def foldable: Boolean = children.forall(_.foldable)
  override def prettyName: String = "interleave_bits"

  override def checkInputDataTypes(): TypeCheckResult =
    if (children.isEmpty) ArgumentChecks.wrongNumberOfArguments(prettyName, "> 0", 0)
    else ArgumentChecks.firstOfAnotherType(
      children,
      ArgumentChecks.UpToInt).getOrElse(TypeCheckSuccess)

  override def eval(input: InternalRow): Any = {
    val values = new Array[Int](children.length)
    var i = 0
    while (i < values.length) {
      val value = children(i).eval(input)
      if (value != null) values(i) = value.asInstanceOf[Number].intValue
      i += 1
    }
    BitInterleaver.interleave(values)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val values =
      ctx.addMutableState("int[]", "interleaved", v => s"$v = new int[${children.length}];")
    val steps = children.zipWithIndex.map { case (child, i) =>
      val value = child.genCode(ctx)
      // Not `isNull ? 0 : value`: if the value is a byte, Janino types that as a byte and then
      // rejects the 0.
      val known =
        if (child.dataType == NullType) s"$values[$i] = 0;"
        else s"if (${value.isNull}) { $values[$i] = 0; } else { $values[$i] = ${value.value}; }"
      s"${value.code}\n$known"
    }
    ev.copy(
      code = code"""
        ${ctx.splitExpressionsWithCurrentInputs(steps, prettyName)}
        final byte[] ${ev.value} = io.zcube.curve.BitInterleaver.interleave($values);""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): InterleaveBits = copy(children = newChildren)
}
