package io.zcube.sql.predicates

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GetArrayStructFields, GetStructField}
import org.apache.spark.sql.types.{ArrayType, StructType}

/** Gives columns, and fields of nested ones, the names that the table declares. Spark's analyzer
  * leaves them as the user spelled them.
  *
  * {{{
  *   table (userId BIGINT, place STRUCT<city: STRING>)
  *   USERID = 5 AND place.City = 'Bonn'   becomes   userId = 5 AND place.city = 'Bonn'
  * }}}
  */
object DeclaredNames {

  /** @param condition resolved
    * @param columns the table's; others keep their names
    */
  def in(condition: Expression, columns: Seq[Attribute]): Expression = {
    val declared = columns.map(column => column.exprId -> column.name).toMap
    // By id and ordinal: where case matters, `x` and `X` may be two columns.
    condition.transformUp {
      case column: Attribute =>
        declared.get(column.exprId).fold[Expression](column)(column.withName)
      case field: GetStructField if field.name.isDefined =>
        field.copy(name = Some(field.childSchema(field.ordinal).name))
      case fields @ GetArrayStructFields(ArrayOfStructs(struct), field, ordinal, _, _) =>
        fields.copy(field = field.copy(name = struct(ordinal).name))
    }
  }

  private object ArrayOfStructs {
    def unapply(expression: Expression): Option[StructType] = expression.dataType match {
      case ArrayType(struct: StructType, _) => Some(struct)
      case _ => None
    }
  }
}
