package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._

import io.zcube.sql.predicates.SimplifiedCondition

/** What the condition of a MERGE says about the columns of matching rows. It omits parts that it
  * doesn't understand: fewer ranges say less, but nothing wrong.
  *
  * Example: `t.day = s.day AND (t.id = s.id OR t.id = s.old)` has two alternatives, each with a
  * range of `day` and one of `id`.
  */
final class MatchCondition(condition: Expression, target: AttributeSet, source: RepeatableColumns)
    extends PredicateHelper {
  import MatchCondition._

  /** A row of the target that matches a row of the source satisfies all ranges of at least one
    * alternative. Ranges of one alternative have different columns. Without any alternative nothing
    * is known.
    */
  val alternatives: Seq[Seq[SourceBounds]] = {
    val all = read(inlined(condition), isPart = false)
    if (all.exists(_.exists(_.isOfSource))) all else Nil
  }

  /** The columns that have a range in any alternative. */
  val columns: Seq[Expression] =
    alternatives.flatten.map(_.column).distinctBy(_.canonicalized)

  /** The conditions that rows of the source must satisfy to match anything. None on columns of which
    * different values may be equal: Spark may put one into a filter in place of the other
    * (`ConstantPropagation`). Between these filters and the source's own columns, Delta's plan has a
    * projection that nothing passes.
    */
  lazy val ofSource: Seq[Expression] = splitConjunctivePredicates(condition)
    .filter(e => isOfSource(e) && e.references.forall(column => KeyTypes.isExact(column.dataType)))

  /** @param isPart whether it is one side of an OR: Delta then doesn't see conditions on the target
    *   alone
    */
  private def read(e: Expression, isPart: Boolean): Seq[Seq[SourceBounds]] = {
    val conjuncts = splitConjunctivePredicates(e).map {
      case In(value, keys) if keys.nonEmpty && keys.size <= MaxAlternatives =>
        keys.map(EqualTo(value, _): Expression).reduce(Or(_, _))
      case other => other
    }
    val ranges = conjuncts.flatMap(rangesOf(_, isPart))
    val choices = conjuncts
      .collect { case or: Or => splitDisjunctivePredicates(or).flatMap(read(_, isPart = true)) }
      .filter(_.forall(_.nonEmpty))
    choices
      .foldLeft(Seq(ranges)) { (found, choice) =>
        if (found.size * choice.size > MaxAlternatives) found
        else for (one <- found; other <- choice) yield one ++ other
      }
      .map(combined)
      .filter(_.nonEmpty || isPart)
  }

  /** In the form that Spark evaluates: BETWEEN as two comparisons. */
  private def inlined(e: Expression): Expression = e.transformUp {
    case Between(value, from, to, _) =>
      And(GreaterThanOrEqual(value, from), LessThanOrEqual(value, to))
    case shared: With => SimplifiedCondition.inlined(shared)
  }

  private def rangesOf(e: Expression, isPart: Boolean): Seq[SourceBounds] = {
    import SourceBounds._

    def point(a: Expression, b: Expression, ifNull: IfNull): Option[SourceBounds] =
      compared(a, b, isPart).map { column =>
        val (low, high) = column.point(b)
        val isField = column.column.isInstanceOf[GetStructField]
        // Statistics don't count a field's NULLs where the containing struct is NULL.
        val meaning = if (ifNull == MatchesNull && isField) MatchesAnything else ifNull
        SourceBounds(column.column, Some(low), Some(high), meaning)
      }
    def atLeast(a: Expression, b: Expression): Option[SourceBounds] =
      for (column <- compared(a, b, isPart); low <- column.low(b))
        yield SourceBounds(column.column, Some(low), None, MatchesNothing)
    def atMost(a: Expression, b: Expression): Option[SourceBounds] =
      for (column <- compared(a, b, isPart); high <- column.high(b))
        yield SourceBounds(column.column, None, Some(high), MatchesNothing)

    val found = e match {
      case EqualTo(a, b) => point(a, b, MatchesNothing).orElse(point(b, a, MatchesNothing))
      case EqualNullSafe(a, b) => point(a, b, MatchesNull).orElse(point(b, a, MatchesNull))
      case GreaterThanOrEqual(a, b) => atLeast(a, b).orElse(atMost(b, a))
      case GreaterThan(a, b) => atLeast(a, b).orElse(atMost(b, a))
      case LessThanOrEqual(a, b) => atMost(a, b).orElse(atLeast(b, a))
      case LessThan(a, b) => atMost(a, b).orElse(atLeast(b, a))
      case IsNull(column: Attribute)
          if isPart && KeyTypes.isOrdered(column.dataType) && isColumn(column) =>
        Some(SourceBounds.point(column, Literal(null, column.dataType), MatchesNull))
      case _ => None
    }
    found.toSeq
  }

  /** One range for each column: an equality if there is one, otherwise the first bounds. */
  private def combined(ranges: Seq[SourceBounds]): Seq[SourceBounds] =
    ranges.map(_.column.canonicalized).distinct.map { column =>
      val same = ranges.filter(_.column.canonicalized == column)
      same.filter(_.isPoint).sortBy(!_.isOfSource).headOption
        .orElse(same.find(range => range.low.nonEmpty && range.high.nonEmpty))
        .getOrElse {
          SourceBounds(
            same.head.column,
            same.flatMap(_.low).headOption,
            same.flatMap(_.high).headOption,
            SourceBounds.MatchesNothing)
        }
    }

  private def compared(
      column: Expression,
      key: Expression,
      isPart: Boolean): Option[ComparedColumn] =
    if (column.dataType != key.dataType) None
    else if (!isOfSource(key) && !(isPart && key.foldable && Repeatability.of(key))) None
    else ComparedColumn.of(column, isColumn)

  private def isColumn(e: Expression): Boolean = e match {
    case attribute: Attribute => target.contains(attribute)
    case GetStructField(child, _, _) => isColumn(child)
    case _ => false
  }

  private def isOfSource(e: Expression): Boolean =
    e.references.nonEmpty && source.suffice(e) && Repeatability.of(e)
}

object MatchCondition {

  private val MaxAlternatives = 8
}
