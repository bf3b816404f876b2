package io.zcube.sql.keys

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.types._

import io.zcube.sql.expressions.RangePartitionId

/** Whether an expression over the same rows has the same value whenever it is computed, although each
  * plan is optimized on its own.
  */
object Repeatability {

  /** Whether it has the same value in each plan. */
  def of(e: Expression): Boolean =
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
    // CSV, because its parser keeps state between rows and treats skipped columns differently from
    // those it reads.
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
    case other => needsToday(other) || isRandomized(other) || other.children.exists(mayDiffer)
  }

  /** Whether it is NULL, or a constant that begins with a year, so that its value doesn't depend on
    * the current date.
    */
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
        all.exists(each => Try(each.dataType).toOption.exists(KeyTypes.holds(_, sought)))
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

  /** A merge of sketches is randomized, although Spark calls it deterministic. */
  private def isRandomized(e: Expression): Boolean = e.prettyName.startsWith("kll_sketch_merge")

  private def needsToday(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: StringType, to) => to == TimestampType
    case (VariantType, to) => KeyTypes.holds(to, _ == TimestampType)
    // Spark 4.0 has no TimeType; later lines don't cast it yet.
    case (from, TimestampType | TimestampNTZType) => from.typeName.startsWith("time(")
    case (ArrayType(from, _), ArrayType(to, _)) => needsToday(from, to)
    case (MapType(key, value, _), MapType(toKey, toValue, _)) =>
      needsToday(key, toKey) || needsToday(value, toValue)
    case (StructType(from), StructType(to)) =>
      from.zip(to).exists { case (one, other) => needsToday(one.dataType, other.dataType) }
    case _ => false
  }

  private def isText(dataType: DataType): Boolean =
    dataType.isInstanceOf[StringType] || dataType == VariantType
}
