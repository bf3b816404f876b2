package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionDescription}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, ByteType, DataType, IntegerType, ShortType}

import io.zcube.curve.BitInterleaver

/** `interleave_bits(c1, …)`: the Z-order key of INT columns, 4 bytes for each. See [[BitInterleaver]] for the layout.
  *
  * Narrower integers are widened. Wider types are refused rather than cut down, which Spark's implicit casts would do,
  * since a Z-order key of cut values orders nothing.
  */
@ExpressionDescription(
  usage = "_FUNC_(col1, col2, ...) - Returns the bits of all columns interleaved, the first column " +
    "the most significant: a BINARY value that sorts in Z-order.",
  arguments = """
    Arguments:
      * colN - an INT, SMALLINT or TINYINT column, best an approximate rank such as
          range_partition_id(col, 1000). All 32 bits count, as an unsigned number. NULL counts as 0.
  """,
  examples = """
    Examples:
      > SELECT hex(_FUNC_(214, 97));
       000000000000B629
      > SELECT hex(_FUNC_(97, 214));
       0000000000007916
      > SELECT hex(_FUNC_(CAST(NULL AS INT), 1));
       0000000000000001
  """,
  note = """
    The result has 4 bytes for each column, big-endian.
  """,
  since = "0.1.0",
  group = "bitwise_funcs")
case class InterleaveBits(children: Seq[Expression]) extends Expression {

  override def prettyName: String = "interleave_bits"

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def foldable: Boolean = children.forall(_.foldable)

  override def checkInputDataTypes(): TypeCheckResult =
    if (children.isEmpty) {
      ArgumentChecks.wrongNumberOfArguments(prettyName, "> 0", 0)
    } else {
      ArgumentChecks.firstOfAnotherType(children, Seq(IntegerType, ShortType, ByteType)) match {
        case Some(mismatch) => mismatch
        case None => TypeCheckSuccess
      }
    }

  override def eval(input: InternalRow): Any = {
    val values = new Array[Int](children.length)
    var column = 0
    children.foreach { child =>
      child.eval(input) match {
        case value: Number => values(column) = value.intValue
        case _ => // NULL: stays 0
      }
      column += 1
    }
    BitInterleaver.interleave(values)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    // One array for all rows: the kernel copies what it needs.
    val values =
      ctx.addMutableState("int[]", "bitsToInterleave", v => s"$v = new int[${children.length}];")
    val reads = children.zipWithIndex.map { case (child, column) =>
      if (ArgumentChecks.isVoid(child)) {
        s"$values[$column] = 0;"
      } else {
        val code = child.genCode(ctx)
        s"""
           |${code.code}
           |$values[$column] = ${code.isNull} ? 0 : ${code.value};
         """.stripMargin
      }
    }
    val readAll = ctx.splitExpressionsWithCurrentInputs(reads, "readBitsToInterleave")
    val kernel = BitInterleaver.getClass.getName.stripSuffix("$")
    ev.copy(
      code = code"""
        |$readAll
        |byte[] ${ev.value} = $kernel.interleave($values);
      """.stripMargin,
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): InterleaveBits =
    copy(children = newChildren)
}
