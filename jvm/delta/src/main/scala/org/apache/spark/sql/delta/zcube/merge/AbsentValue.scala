package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

/** NULL in place of a column of the source that an outer join hasn't got, and as unknown to the
  * optimizer as such a column.
  *
  * From a literal, Spark computes what depends on it while it plans, and fails there. `t.a = 5 OR 100 /
  * coalesce(s.v, 0) > 1` divides by zero only for rows with another `a`, of which there may be none.
  */
case class AbsentValue(dataType: DataType) extends LeafExpression {

  override def nullable: Boolean = true

  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = null

  override protected def doGenCode(context: CodegenContext, code: ExprCode): ExprCode =
    ExprCode.forNullValue(dataType)

  override def toString: String = "absent"
}
