package io.zcube.sql.expressions

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.types.{DataType, IntegerType, NullType}

import io.zcube.sql.values.TypedRangeBounds

/** Number of the range that contains a value; NULL has 0. Interpreted and generated code agree. */
case class RangeIdOf(child: Expression, bounds: TypedRangeBounds) extends UnaryExpression {

  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "range_id_of"
  override def stringArgs: Iterator[Any] = Iterator(child, s"${bounds.length} bounds")

  override def eval(input: InternalRow): Any = {
    val value = child.eval(input)
    if (value == null) 0 else bounds.idOf(value)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = child.genCode(ctx)
    val id =
      if (child.dataType == NullType) "0"
      else s"${value.isNull} ? 0 : ${bounds.genIdOf(ctx, value.value)}"
    ev.copy(code = code"${value.code}\nfinal int ${ev.value} = $id;", isNull = FalseLiteral)
  }

  override protected def withNewChildInternal(newChild: Expression): RangeIdOf =
    copy(child = newChild)
}
