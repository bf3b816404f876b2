package io.zcube.sql.keys

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** A struct made from JSON or CSV, and its fields.
  *
  * Of JSON that is well-formed (`WellFormedJson`), Spark's parser reads each field on its own: one that
  * can't be read is NULL, and the others aren't (`JacksonParser.convertObject`). So a field that may
  * have another value in another plan, such as a TIMESTAMP, doesn't change the others, and neither
  * does a plan that doesn't use it. CSV has a parser that reads a field in another way if others are
  * skipped.
  */
private[keys] object ParsedRecord {

  /** What an expression is or is a field of, at any depth: of `r.a.b` it is `r`. */
  @tailrec
  def baseOf(e: Expression): Expression = e match {
    case GetStructField(child, _, _) => baseOf(child)
    case other => other
  }

  /** The record that an expression is, or is a field of. */
  def unapply(e: Expression): Option[Expression] = Some(baseOf(e)).collect {
    case record @ (_: JsonToStructs | _: CsvToStructs) => record
  }

  /** Whether each field may depend on what else is read of its record.
    *
    * Of CSV, Spark reads a single field where a plan needs no more, unless there are options
    * (`OptimizeCsvJsonExprs`). The parser then skips quoted texts by other rules than it reads them, and
    * a column for corrupt records has another place (`CsvToStructsEvaluator`).
    *
    * What is corrupt in JSON depends on the fields that a plan uses (SPARK-58707). A VARIANT that can't
    * be read ends its record, and so does a BINARY, as its reader is past the closing quote then. Of two
    * fields of the same name, the last one is read. Without partial results, a value that can't be
    * read makes the struct around it NULL; with it, a field that is missing doesn't get its default.
    */
  def areFieldsTied(record: Expression): Boolean = {
    val conf = SQLConf.get
    record match {
      case json: JsonToStructs =>
        val names = CaseInsensitiveMap(json.options).get(CorruptRecord).toSet +
          conf.columnNameOfCorruptRecord
        !conf.getConf(SQLConf.JSON_ENABLE_PARTIAL_RESULTS) ||
        MatchCondition.holds(
          json.schema,
          {
            case StructType(fields) =>
              fields.map(_.name).distinct.length < fields.length ||
              fields.exists(field =>
                names(field.name) || field.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY))
            case other => other == VariantType || other == BinaryType
          }
        )
      case csv: CsvToStructs =>
        conf.csvExpressionOptimization && csv.options.isEmpty && csv.schema.length > 1
      case _ => false
    }
  }

  /** Whether a value of this type may be another one in another plan, read from the same text.
    *
    * A text with only a time of day is a time of the present day. A VARIANT in CSV is a number only as
    * long as all texts before it were numbers: whether `007` is 7 depends on the filter below.
    */
  def mayDiffer(field: DataType): Boolean = MatchCondition.holds(
    field,
    part =>
      part == TimestampType || part == VariantType ||
        part == DateType && MatchCondition.isLegacy)

  /** An option of Spark, whose constant has another name in 4.0. */
  private val CorruptRecord = "columnNameOfCorruptRecord"
}
