package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** A column of the target that equals a key of the source whenever two rows match.
  *
  * @param column   a column of the target, or a field of one
  * @param key an expression over the source's columns, in the column's type; NULL if it has a wider
  *   type and no value of the column's type equals it
  * @param nullSafe whether NULL matches NULL
  */
final case class KeyPair(column: Expression, key: Expression, nullSafe: Boolean)

/** What the condition of a MERGE says about the keys of matching rows. It omits parts that it
  * doesn't understand: fewer pairs say less, but nothing wrong.
  */
final class MatchCondition(condition: Expression, target: AttributeSet, source: AttributeSet)
    extends PredicateHelper {
  import MatchCondition._

  private val conjuncts = splitConjunctivePredicates(condition)

  val pairs: Seq[KeyPair] = conjuncts.flatMap {
    case EqualTo(a, b) => pair(a, b, nullSafe = false).orElse(pair(b, a, nullSafe = false))
    case EqualNullSafe(a, b) => pair(a, b, nullSafe = true).orElse(pair(b, a, nullSafe = true))
    case _ => None
  }

  /** The conditions that rows of the source must satisfy to match anything. */
  val ofSource: Seq[Expression] = conjuncts.filter(isOfSource)

  private def pair(column: Expression, key: Expression, nullSafe: Boolean): Option[KeyPair] =
    if (!isOfSource(key) || column.dataType != key.dataType) None
    else {
      column match {
        // The only cast of a column that is ignored: it doesn't change the number.
        case Cast(narrow, wide, _, _)
            if isColumn(narrow) && isWidened(narrow.dataType, wide) =>
          Some(KeyPair(narrow, narrowed(key, narrow.dataType), nullSafe))
        // Statistics don't count a field's NULLs where the containing struct is NULL.
        case field: GetStructField if isColumn(field) && !nullSafe =>
          Some(KeyPair(field, key, nullSafe))
        case attribute: Attribute if isColumn(attribute) =>
          Some(KeyPair(attribute, key, nullSafe))
        case _ => None
      }
    }

  private def isColumn(e: Expression): Boolean = isOrdered(e.dataType) && pathOf(e).nonEmpty

  private def pathOf(e: Expression): Option[Expression] = e match {
    case attribute: Attribute if target.contains(attribute) => Some(attribute)
    case GetStructField(child, _, _) => pathOf(child)
    case _ => None
  }

  private def isOfSource(e: Expression): Boolean =
    e.references.nonEmpty && e.references.subsetOf(source) && isRepeatable(e)
}

object MatchCondition {

  /** A user-defined function may claim to be deterministic when it isn't. */
  private def isRepeatable(e: Expression): Boolean =
    e.deterministic && !e.exists {
      case _: UserDefinedExpression | _: SubqueryExpression => true
      case _ => false
    }

  /** Types with minima and maxima in Delta's log whose equality agrees with their order. This
    * excludes floating point (NaN, and two zeros) and strings with a collation.
    */
  def isOrdered(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType |
        TimestampNTZType | _: DecimalType => true
    case other => other == StringType
  }

  private val Integers: Seq[(DataType, Long, Long)] = Seq(
    (ByteType, Byte.MinValue.toLong, Byte.MaxValue.toLong),
    (ShortType, Short.MinValue.toLong, Short.MaxValue.toLong),
    (IntegerType, Int.MinValue.toLong, Int.MaxValue.toLong),
    (LongType, Long.MinValue, Long.MaxValue)
  )

  private def isWidened(from: DataType, to: DataType): Boolean = {
    val order = Integers.map(_._1)
    order.contains(from) && order.indexOf(from) < order.indexOf(to)
  }

  /** The key as a number of fewer bytes, NULL if it doesn't fit. */
  private def narrowed(key: Expression, to: DataType): Expression = {
    val (_, least, greatest) = Integers.find(_._1 == to).get
    val long = Cast(key, LongType)
    val fits =
      And(GreaterThanOrEqual(long, Literal(least)), LessThanOrEqual(long, Literal(greatest)))
    If(fits, Cast(key, to), Literal(null, to))
  }
}
