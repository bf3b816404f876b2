package io.zcube.sql.keys

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.util.{CharVarcharCodegenUtils, UnsafeRowUtils}
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types._

import io.zcube.sql.expressions.RangePartitionId

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
  val alternatives: Seq[Seq[KeyRange]] = {
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
    .filter(e => isOfSource(e) && e.references.forall(column => isExact(column.dataType)))

  /** @param isPart whether it is one side of an OR: Delta then doesn't see conditions on the target
    *   alone
    */
  private def read(e: Expression, isPart: Boolean): Seq[Seq[KeyRange]] = {
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
    case With(child, definitions) =>
      child.transformUp { case ref: CommonExpressionRef =>
        definitions.find(_.id == ref.id).fold[Expression](ref)(_.child)
      }
  }

  private def rangesOf(e: Expression, isPart: Boolean): Seq[KeyRange] = {
    import KeyRange._

    def point(a: Expression, b: Expression, ifNull: IfNull): Option[KeyRange] =
      compared(a, b, isPart).map { column =>
        val (low, high) = column.point(b)
        val isField = column.column.isInstanceOf[GetStructField]
        // Statistics don't count a field's NULLs where the containing struct is NULL.
        val meaning = if (ifNull == MatchesNull && isField) MatchesAnything else ifNull
        KeyRange(column.column, Some(low), Some(high), meaning)
      }
    def atLeast(a: Expression, b: Expression): Option[KeyRange] =
      for (column <- compared(a, b, isPart); low <- column.low(b))
        yield KeyRange(column.column, Some(low), None, MatchesNothing)
    def atMost(a: Expression, b: Expression): Option[KeyRange] =
      for (column <- compared(a, b, isPart); high <- column.high(b))
        yield KeyRange(column.column, None, Some(high), MatchesNothing)

    val found = e match {
      case EqualTo(a, b) => point(a, b, MatchesNothing).orElse(point(b, a, MatchesNothing))
      case EqualNullSafe(a, b) => point(a, b, MatchesNull).orElse(point(b, a, MatchesNull))
      case GreaterThanOrEqual(a, b) => atLeast(a, b).orElse(atMost(b, a))
      case GreaterThan(a, b) => atLeast(a, b).orElse(atMost(b, a))
      case LessThanOrEqual(a, b) => atMost(a, b).orElse(atLeast(b, a))
      case LessThan(a, b) => atMost(a, b).orElse(atLeast(b, a))
      case IsNull(column: Attribute) if isPart && isOrdered(column.dataType) && isColumn(column) =>
        Some(KeyRange.point(column, Literal(null, column.dataType), MatchesNull))
      case _ => None
    }
    found.toSeq
  }

  /** One range for each column: an equality if there is one, otherwise the first bounds. */
  private def combined(ranges: Seq[KeyRange]): Seq[KeyRange] =
    ranges.map(_.column.canonicalized).distinct.map { column =>
      val same = ranges.filter(_.column.canonicalized == column)
      same.filter(_.isPoint).sortBy(!_.isOfSource).headOption
        .orElse(same.find(range => range.low.nonEmpty && range.high.nonEmpty))
        .getOrElse {
          KeyRange(
            same.head.column,
            same.flatMap(_.low).headOption,
            same.flatMap(_.high).headOption,
            KeyRange.MatchesNothing)
        }
    }

  private def compared(
      column: Expression,
      key: Expression,
      isPart: Boolean): Option[ComparedColumn] =
    if (column.dataType != key.dataType) None
    else if (!isOfSource(key) && !(isPart && key.foldable && isRepeatable(key))) None
    else ComparedColumn.of(column, isColumn)

  private def isColumn(e: Expression): Boolean = e match {
    case attribute: Attribute => target.contains(attribute)
    case GetStructField(child, _, _) => isColumn(child)
    case _ => false
  }

  private def isOfSource(e: Expression): Boolean =
    e.references.nonEmpty && source.suffice(e) && isRepeatable(e)
}

object MatchCondition {

  private val MaxAlternatives = 8

  private def isRepeatable(e: Expression): Boolean =
    e.deterministic && !mayDiffer(e) && !e.exists(_.isInstanceOf[SubqueryExpression])

  /** Whether a deterministic expression, or a part of it, may have other values in another plan.
    *
    * A function of a user or of a catalog may claim to be deterministic when it isn't. Some of
    * Spark's own functions are invoked in the same way, and one of them, `aes_encrypt`, isn't
    * deterministic either; they are left out with them. In each plan, Spark replaces texts such as
    * 'now' and 'today' that are cast to a date or a time (`SpecialDatetimeValues`). A text with only a
    * time of day becomes that time of the present day when the row is read.
    */
  def mayDiffer(e: Expression): Boolean = e match {
    case call: StaticInvoke if call.staticObject != classOf[CharVarcharCodegenUtils] => true
    case _: UserDefinedExpression | _: Invoke => true
    case Cast(text, _: DateType | _: TimestampType | _: TimestampNTZType, _, _)
        if text.foldable && text.dataType.isInstanceOf[StringType] =>
      !beginsWithYear(text) || mayDiffer(text)
    // univocity skips columns that a plan doesn't use by other rules than it reads them, and what it
    // reads of a row depends on the rows before.
    case _: CsvToStructs => true
    // Its ranges come from a sample of the rows with the columns that the plan needs.
    case _: RangePartitionId => true
    // Spark may leave out both `to_json` and `from_json` around it, and with them a loss of precision.
    case _: StructsToJson => true
    // The replacement contains the children: to look at both would take twice as long on each level.
    case other: RuntimeReplaceable => Try(other.replacement).fold(_ => true, mayDiffer)
    case ParsedJson(json) =>
      ParsedJson.mayDiffer(e.dataType) || ParsedJson.areFieldsTied(json) ||
      json.children.exists(mayDiffer)
    case other => needsToday(other) || drawsLots(other) || other.children.exists(mayDiffer)
  }

  /** Whether it is a constant whose date isn't the present one; or NULL. */
  private def beginsWithYear(text: Expression): Boolean =
    Try(text.eval()).fold(
      _ => false,
      value => value == null || Year.findPrefixOf(value.toString.trim).isDefined)

  private val Year = "[+-]?[0-9]{4}".r

  /** Whether it may make times from texts, such as JSON, or from times of day.
    *
    * Without a zone, texts need a date. With a format, what a text lacks isn't taken from the present
    * date, except that Spark's old parser takes a year of two digits for one of the last 80 years.
    */
  private def needsToday(e: Expression): Boolean = e match {
    case Cast(from, to, _, _) => needsToday(from.dataType, to)
    case time: ToTimestamp => isLegacy && !isUnambiguous(time.right)
    case _: MakeTimestamp => false
    case _ =>
      // Parts of windows have no type.
      def has(all: Seq[Expression])(sought: DataType => Boolean) =
        all.exists(each => Try(each.dataType).toOption.exists(holds(_, sought)))
      def makes(time: DataType) = has(Seq(e))(_ == time) && !has(e.children)(_ == time)
      has(e.children)(isText) && (makes(TimestampType) || isLegacy && makes(DateType))
  }

  private[keys] def isLegacy: Boolean =
    SQLConf.get.legacyTimeParserPolicy == LegacyBehaviorPolicy.LEGACY

  /** Whether it is a constant format of Spark's old parser by which a text always means the same: one
    * with neither a year of two digits nor the name of a zone, which tells the parser how to read an
    * ambiguous name in the next text.
    */
  private def isUnambiguous(format: Expression): Boolean = format.foldable &&
    Try(format.eval()).toOption.exists { value =>
      value == null || ShortYearOrZone.findFirstIn(value.toString).isEmpty
    }

  private val ShortYearOrZone = "(?<!y)y{1,2}(?!y)|(?<!Y)Y{1,2}(?!Y)|[zZ]".r

  /** A merge of sketches draws lots, although Spark calls it deterministic. */
  private def drawsLots(e: Expression): Boolean = e.prettyName.startsWith("kll_sketch_merge")

  private def needsToday(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: StringType, to) => to == TimestampType
    case (VariantType, to) => holds(to, _ == TimestampType)
    // Spark 4.0 has no TimeType; later lines don't cast it yet.
    case (from, TimestampType | TimestampNTZType) => from.typeName.startsWith("time(")
    case (ArrayType(from, _), ArrayType(to, _)) => needsToday(from, to)
    case (MapType(key, value, _), MapType(toKey, toValue, _)) =>
      needsToday(key, toKey) || needsToday(value, toValue)
    case (StructType(from), StructType(to)) =>
      from.zip(to).exists { case (one, other) => needsToday(one.dataType, other.dataType) }
    case _ => false
  }

  /** Whether equal values are the same, in all of its parts. A text of an indeterminate collation has
    * none that could be asked.
    */
  def isExact(dataType: DataType): Boolean =
    Try(UnsafeRowUtils.isBinaryStable(dataType)).getOrElse(false) &&
      !holds(dataType, part => part == FloatType || part == DoubleType)

  private def isText(dataType: DataType): Boolean =
    dataType.isInstanceOf[StringType] || dataType == VariantType

  private[keys] def holds(dataType: DataType, sought: DataType => Boolean): Boolean =
    sought(dataType) || (dataType match {
      case ArrayType(element, _) => holds(element, sought)
      case MapType(key, value, _) => holds(key, sought) || holds(value, sought)
      case StructType(fields) => fields.exists(field => holds(field.dataType, sought))
      case _ => false
    })

  /** Types with minima and maxima in Delta's log whose equality agrees with their order. This
    * excludes floating point (NaN, and two zeros) and strings with a collation.
    */
  def isOrdered(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType |
        TimestampNTZType | _: DecimalType => true
    case other => other == StringType
  }
}
