package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.types.{DataType, IntegerType}

import io.zcube.layout.CutPoints

/** Number of the file, 0 to files - 1, that a row belongs to by its clustering key.
  *
  * @param left  the key, BIGINT, never NULL
  * @param right the row's noise, a non-negative BIGINT of which the low 16 bits count, never NULL;
  *              a literal 0 if no key is split
  * @param cuts the positions where the sequence of keys is cut
  */
case class FileOfKey(left: Expression, right: Expression, cuts: CutPoints)
    extends BinaryExpression {

  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "file_of_key"
  override def stringArgs: Iterator[Any] = Iterator(left, right, cuts.files)
  override def checkInputDataTypes(): TypeCheckResult = TypeCheckResult.TypeCheckSuccess

  override def eval(input: InternalRow): Any = {
    val key = left.eval(input).asInstanceOf[Long]
    val noise = right.eval(input).asInstanceOf[Long]
    cuts.fileOf(key, (noise & FileOfKey.NoiseMask).toInt)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val cutPoints = ctx.addReferenceObj("cutPoints", cuts)
    val key = left.genCode(ctx)
    val noise = right.genCode(ctx)
    ev.copy(
      code = code"""
        ${key.code}
        ${noise.code}
        final int ${ev.value} =
          $cutPoints.fileOf(${key.value}, (int) (${noise.value} & ${FileOfKey.NoiseMask}L));""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): FileOfKey =
    copy(left = l, right = r)
}

object FileOfKey {
  private val NoiseMask: Long = CutPoints.NoiseRange - 1L
}
