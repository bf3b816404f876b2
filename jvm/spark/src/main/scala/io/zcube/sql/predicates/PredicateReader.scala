package io.zcube.sql.predicates

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.types.{PhysicalDataType, PhysicalStringType}
import org.apache.spark.sql.types.{BooleanType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.sql.predicates.PredicateBoxes.Box
import io.zcube.sql.values.ValueOrdering

/** Turns conditions into boxes over some columns.
  *
  * It reads `=`, `<=>`, `<>`, `<`, `<=`, `>`, `>=`, BETWEEN, IN, IS [NOT] NULL, LIKE 'x%', boolean
  * columns, AND, OR and NOT of these, between a column and a constant. Anything else may be true
  * for any row, so the boxes never exclude a row that satisfies the condition.
  *
  * @param columns the columns, by the parts of their names: `Seq("a", "b")` is a field of `a`
  */
final class PredicateReader(columns: Seq[Seq[String]]) {
  import PredicateReader._

  private val numbers = columns.zipWithIndex.toMap

  /** @param condition resolved, and preferably simplified ([[SimplifiedCondition]]) */
  def read(condition: Expression): PredicateBoxes = {
    val ignored = mutable.LinkedHashSet.empty[String]
    val boxes = new Reading(ignored).boxes(condition)
    PredicateBoxes(boxes.distinct, ignored.toSeq)
  }

  /** One reading.
    *
    * @param ignored is added to
    */
  private class Reading(ignored: mutable.Set[String]) {
    private val orders = mutable.Map.empty[Int, Ordering[Any]]

    def boxes(condition: Expression): Seq[Box] = condition match {
      case And(left, right) => allOf(boxes(left), boxes(right))
      case Or(left, right) => anyOf(boxes(left) ++ boxes(right))
      case Literal(value, BooleanType) => if (value == true) Anything else Nothing
      case IsNull(Column(c)) => ranges(c, ValueRange.Null)
      case IsNotNull(Column(c)) => ranges(c, ValueRange.NotNull)
      case Column(c) => ranges(c, ValueRange.of(Interval.of(true)))
      case Not(Column(c)) => ranges(c, ValueRange.of(Interval.of(false)))
      case Not(comparison: EqualTo) => ofComparison(comparison, negated = true)
      case Not(EqualNullSafe(left, right)) =>
        val isOther = boxes(Not(EqualTo(left, right)))
        (left, right) match {
          case (Column(_), Literal(null, _)) => boxes(IsNotNull(left))
          case (Literal(null, _), Column(_)) => boxes(IsNotNull(right))
          case (Column(_), _: Literal) => isOther ++ boxes(IsNull(left))
          case (_: Literal, Column(_)) => isOther ++ boxes(IsNull(right))
          case _ => isOther
        }
      case comparison: BinaryComparison => ofComparison(comparison, negated = false)
      case In(Column(c), list) if list.forall(_.isInstanceOf[Literal]) =>
        ofValues(c, list.map(_.asInstanceOf[Literal].value))
      case InSet(Column(c), values) => ofValues(c, values.toSeq)
      case Not(In(Column(c), list)) if list.forall(_.isInstanceOf[Literal]) =>
        ofOtherValues(c, list.map(_.asInstanceOf[Literal].value))
      case Not(InSet(Column(c), values)) => ofOtherValues(c, values.toSeq)
      case StartsWith(Column(c), Literal(prefix: UTF8String, _)) if isBinary(c.expression) =>
        ranges(c, ValueRange.of(startingWith(prefix)))
      case other => notUnderstood(other)
    }

    private def ofComparison(comparison: BinaryComparison, negated: Boolean): Seq[Box] =
      comparison match {
        case EqualNullSafe(Column(c), Literal(null, _)) => ranges(c, ValueRange.Null)
        case EqualNullSafe(Literal(null, _), Column(c)) => ranges(c, ValueRange.Null)
        case BinaryComparison(Column(_), Literal(null, _)) => Nothing
        case BinaryComparison(Literal(null, _), Column(_)) => Nothing
        case BinaryComparison(Column(c), Literal(value, _)) =>
          ranges(
            c,
            intervals(comparison, value, columnFirst = true, negated).map(ValueRange.of): _*)
        case BinaryComparison(Literal(value, _), Column(c)) =>
          ranges(
            c,
            intervals(comparison, value, columnFirst = false, negated).map(ValueRange.of): _*)
        case other => notUnderstood(other)
      }

    private def ofValues(column: Found, values: Seq[Any]): Seq[Box] = {
      // NULL in a list never makes it true. Sorted, because the values may come from a set.
      val known = values.filter(_ != null).sorted(orderOf(column))
      if (known.isEmpty) Nothing
      else if (known.size > MaxBoxes) {
        val ends = Interval.of(known.head).hull(Interval.of(known.last), orderOf(column))
        ranges(column, ValueRange.of(ends))
      } else ranges(column, known.map(value => ValueRange.of(Interval.of(value))): _*)
    }

    private def ofOtherValues(column: Found, values: Seq[Any]): Seq[Box] =
      // With NULL in the list, NOT IN is never true.
      if (values.contains(null)) Nothing
      else if (values.size >= MaxBoxes) ranges(column, ValueRange.NotNull)
      else {
        val ends = values.sorted(orderOf(column)).map(v => Some(Interval.End(v, inclusive = false)))
        val between = (None +: ends).zip(ends :+ None).map { case (low, high) =>
          Interval(low, high)
        }
        ranges(column, between.map(ValueRange.of): _*)
      }

    private def ranges(column: Found, valueRanges: ValueRange*): Seq[Box] = {
      val _ = orderOf(column)
      valueRanges.map(range => Map(column.number -> range))
    }

    private def notUnderstood(condition: Expression): Seq[Box] = {
      if (condition.exists(part => Column.unapply(part).isDefined)) ignored += condition.sql
      Anything
    }

    private def orderOf(column: Found): Ordering[Any] =
      orders.getOrElseUpdate(column.number, ValueOrdering.of(column.expression.dataType))

    private def allOf(left: Seq[Box], right: Seq[Box]): Seq[Box] =
      if (left.size.toLong * right.size <= MaxBoxes) {
        for (a <- left; b <- right; both <- intersect(a, b)) yield both
      } else if (left.size >= right.size) allOf(Seq(hull(left)), right)
      else allOf(left, Seq(hull(right)))

    private def anyOf(boxes: Seq[Box]): Seq[Box] =
      if (boxes.exists(_.isEmpty)) Anything
      else if (boxes.size > MaxBoxes) Seq(hull(boxes))
      else boxes

    private def intersect(a: Box, b: Box): Option[Box] = {
      val both = b.foldLeft(a) { case (box, (column, range)) =>
        box.updated(column, box.get(column).fold(range)(_.and(range, orders(column))))
      }
      Option.when(!both.values.exists(_.isEmpty))(both)
    }

    /** The smallest box that contains them all. */
    private def hull(boxes: Seq[Box]): Box = boxes.reduce { (a, b) =>
      a.keySet.intersect(b.keySet).map(c => c -> a(c).hull(b(c), orders(c))).toMap
    }
  }

  private object Column {
    def unapply(expression: Expression): Option[Found] =
      path(expression).flatMap(numbers.get).map(Found(_, expression))
  }
}

object PredicateReader {

  /** A predicate with more boxes is replaced by their bounding box. */
  val MaxBoxes = 1000

  /** One of the columns, or a field of one, and its number. */
  private case class Found(number: Int, expression: Expression)

  private val Anything: Seq[Box] = Seq(Map.empty)
  private val Nothing: Seq[Box] = Nil

  /** The name parts of a column or field; None for any other expression. */
  def path(expression: Expression): Option[Seq[String]] = expression match {
    case column: Attribute => Some(Seq(column.name))
    case field: GetStructField => path(field.child).map(_ :+ field.extractFieldName)
    case _ => None
  }

  /** The paths of the columns, or of the fields of nested ones, that a condition uses. */
  def paths(condition: Expression): Seq[Seq[String]] =
    path(condition).map(Seq(_)).getOrElse(condition.children.flatMap(paths))

  private def intervals(
      comparison: BinaryComparison,
      value: Any,
      columnFirst: Boolean,
      negated: Boolean): Seq[Interval] = comparison match {
    case _: EqualTo if negated =>
      Seq(Interval.to(value, inclusive = false), Interval.from(value, inclusive = false))
    case _: EqualTo | _: EqualNullSafe => Seq(Interval.of(value))
    case _: LessThan | _: LessThanOrEqual | _: GreaterThan | _: GreaterThanOrEqual =>
      val inclusive =
        comparison.isInstanceOf[LessThanOrEqual] || comparison.isInstanceOf[GreaterThanOrEqual]
      val less = comparison.isInstanceOf[LessThan] || comparison.isInstanceOf[LessThanOrEqual]
      Seq(if (less == columnFirst) Interval.to(value, inclusive)
      else Interval.from(value, inclusive))
    case _ => Seq(Interval.Everything)
  }

  /** Whether strings are in the order of their bytes. */
  private def isBinary(column: Expression): Boolean = column.dataType match {
    case s: StringType => PhysicalStringType(s.collationId) == PhysicalDataType(StringType)
    case _ => false
  }

  private def startingWith(prefix: UTF8String): Interval = {
    // May be the string's own array.
    val bytes = prefix.getBytes.clone()
    if (bytes.isEmpty) Interval.Everything
    else {
      // No byte of UTF-8 is 0xFF, so the last byte has a successor.
      bytes(bytes.length - 1) = (bytes(bytes.length - 1) + 1).toByte
      val next = Interval.to(UTF8String.fromBytes(bytes), inclusive = false)
      Interval(Interval.from(prefix, inclusive = true).lower, next.upper)
    }
  }
}
