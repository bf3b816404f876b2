package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._

/** The condition that a row lies in one of some boxes. */
object BoxPredicate {

  /** @param columns    some of the dimensions' columns
    * @param dimensions which these are
    */
  def of(
      columns: Seq[Expression],
      dimensions: Seq[Int],
      boxes: Seq[ValueBox]): Expression = {
    val each = boxes.map { box =>
      columns.zip(dimensions).map { case (column, d) => within(column, box.low(d), box.high(d)) }
        .reduce(And(_, _))
    }
    balanced(each.distinct)
  }

  private def within(column: Expression, low: Any, high: Any): Expression = {
    def literal(value: Any) = Literal(value, column.dataType)
    if (high == null) IsNull(column)
    else if (low == null) Or(IsNull(column), LessThanOrEqual(column, literal(high)))
    else if (low == high) EqualTo(column, literal(high))
    else And(GreaterThanOrEqual(column, literal(low)), LessThanOrEqual(column, literal(high)))
  }

  /** Not a chain, which would be as deep as it is long. */
  private def balanced(each: Seq[Expression]): Expression = each match {
    case Seq() => Literal.FalseLiteral
    case Seq(one) => one
    case many =>
      val (some, others) = many.splitAt(many.size / 2)
      Or(balanced(some), balanced(others))
  }
}
