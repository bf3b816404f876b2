package io.zcube.sql.keys

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** Values parsed from JSON, and their fields.
  *
  * Of a text that is well-formed (`WellFormedJson`), Spark's parser reads each field on its own, apart
  * from a few types: one that can't be read is NULL, and the others aren't
  * (`JacksonParser.convertObject`). So a field that may have another value in another plan, such as a
  * TIMESTAMP, doesn't change the others, and neither does a plan that doesn't use it.
  */
private[keys] object ParsedJson {

  /** What an expression is or is a field of, at any depth: of `r.a.b` it is `r`. */
  @tailrec
  def baseOf(e: Expression): Expression = e match {
    case GetStructField(child, _, _) => baseOf(child)
    case other => other
  }

  /** The JSON that an expression is, or is a field of. */
  def unapply(e: Expression): Option[JsonToStructs] = Some(baseOf(e)).collect {
    case json: JsonToStructs => json
  }

  /** Whether each field may depend on what else is read of the text.
    *
    *   - What is corrupt depends on the fields that a plan uses (SPARK-58707).
    *   - After a VARIANT or a BINARY that can't be read, and after each VOID that isn't a single
    *     value, the parser resumes at another place.
    *   - Of two fields of the same name, the last one is read.
    *   - Without partial results, a value that can't be read makes the struct around it NULL.
    *     Beside such a value, a missing field doesn't get its default.
    *   - A text may be nested deeper than Spark can write it again, as for a STRING.
    */
  def areFieldsTied(json: JsonToStructs): Boolean = {
    val conf = SQLConf.get
    val options = CaseInsensitiveMap(json.options)
    val names = options.get(CorruptRecord).toSet + conf.columnNameOfCorruptRecord
    !conf.getConf(SQLConf.JSON_ENABLE_PARTIAL_RESULTS) || options.contains(Depth) ||
    KeyTypes.holds(
      json.schema,
      {
        case StructType(fields) =>
          fields.map(_.name).distinct.length < fields.length ||
          fields.exists(field =>
            names(field.name) || field.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY))
        case VariantType | BinaryType | NullType | _: UserDefinedType[_] => true
        case _ => false
      }
    )
  }

  /** Whether a value of this type may be another one in another plan, read from the same text.
    *
    * A text with only a time of day is a time of the present day.
    */
  def mayDiffer(field: DataType): Boolean = KeyTypes.holds(
    field,
    part => part == TimestampType || part == DateType && Repeatability.isLegacy)

  // Options of Spark; in 4.0, their constants have other names.
  private val CorruptRecord = "columnNameOfCorruptRecord"
  private val Depth = "maxNestingDepth"
}
