package io.zcube.sql.keys

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Spark itself says whether a field's value depends on what else is read of its record. */
class ParsedJsonSuite extends AnyFunSuite {
  import ParsedJsonSuite._

  private val text = AttributeReference("text", StringType)()

  private def json(schema: StructType) = JsonToStructs(schema, Map.empty, text, Some("UTC"))

  private def read(record: Expression, field: Int, row: InternalRow): Any = {
    val e = BindReferences.bindReference[Expression](
      GetStructField(record, field),
      AttributeSeq(Seq(text)))
    try e.eval(row) match {
        // Maps don't know when they are equal.
        case map: MapData => map.toString
        case other => other
      }
    catch { case e: Exception => e.getClass }
  }

  private def isWellFormed(row: InternalRow): Boolean = {
    val e = WellFormedJson(BoundReference(0, StringType, nullable = true), Map.empty, Some("UTC"))
    try e.eval(row) == row.getUTF8String(0)
    catch { case WellFormedJson.Malformed(_) => false }
  }

  private def rowOf(text: String) = InternalRow(UTF8String.fromString(text))

  test("a field of JSON that is the same has its value whatever else is read of a record") {
    val r = new Random(7)
    var values, nulls = 0
    for (_ <- 0 until 1000) {
      val one = objectOf(r, Fields)
      val row = rowOf(Seq(one, one, one, s"[$one]", s"[$one, $one]", s"$one $one")(r.nextInt(6)))
      assert(isWellFormed(row))
      val some = StructType(r.shuffle(Fields.toSeq).take(1 + r.nextInt(Fields.size)))
      for ((field, i) <- some.zipWithIndex if !ParsedJson.mayDiffer(field.dataType)) {
        assert(!Repeatability.mayDiffer(GetStructField(json(some), i)))
        val whole = read(json(Fields), Fields.fieldIndex(field.name), row)
        assert(read(json(some), i, row) == whole, s"${row.getString(0)}: ${field.name} of $some")
        if (whole == null) nulls += 1 else values += 1
      }
    }
    assert(values > 500 && nulls > 500)
  }

  test("where a field of JSON depends on others, the text isn't well-formed") {
    val r = new Random(9)
    var differ, wellFormed = 0
    for (_ <- 0 until 3000) {
      val row = rowOf(broken(r, objectOf(r, Fields)))
      val some = StructType(Seq(Fields(r.nextInt(Fields.size))))
      if (!ParsedJson.mayDiffer(some.head.dataType)) {
        val whole = read(json(Fields), Fields.fieldIndex(some.head.name), row)
        if (isWellFormed(row)) {
          wellFormed += 1
          assert(read(json(some), 0, row) == whole, s"${row.getString(0)}: $some")
        } else if (read(json(some), 0, row) != whole) differ += 1
      }
    }
    info(s"$differ fields differ, $wellFormed are of texts that are well-formed nonetheless")
    assert(differ > 20 && wellFormed > 200)
  }

  test("a field of an array of JSON has its values whatever else is read of the records") {
    val r = new Random(11)
    val fields = StructType(Fields.filterNot(field => ParsedJson.mayDiffer(field.dataType)))
    def of(element: StructType, name: String, row: InternalRow) = {
      val array = JsonToStructs(ArrayType(element), Map.empty, text, Some("UTC"))
      val i = element.fieldIndex(name)
      val e = GetArrayStructFields(array, element(i), i, element.size, containsNull = true)
      assert(!Repeatability.mayDiffer(e))
      try BindReferences.bindReference[Expression](e, AttributeSeq(Seq(text))).eval(row) match {
          case found: ArrayData => found.toSeq[Any](element(i).dataType).map {
              case map: MapData => map.toString
              case other => other
            }
          case other => other
        }
      catch { case e: Exception => e.getClass }
    }
    var values = 0
    for (_ <- 0 until 500) {
      val one = objectOf(r, fields)
      val row = rowOf(Seq(one, s"[$one]", s"[$one, $one]", s"[$one] $one")(r.nextInt(4)))
      // As the optimizer prunes it, to a single field.
      val field = fields(r.nextInt(fields.size))
      val whole = of(fields, field.name, row)
      assert(of(StructType(Seq(field)), field.name, row) == whole, s"${row.getString(0)}: $field")
      whole match {
        case found: Seq[_] if found.exists(_ != null) => values += 1
        case _ =>
      }
    }
    assert(values > 200)
  }

  // Why CSV isn't used.
  test("a field of CSV depends on the rows before, and on whether it is read alone") {
    val schema = new StructType().add("p", StringType).add("id", LongType).add("n", StringType)
    def ids(lines: String*)(required: Option[StructType]) = {
      val csv = CsvToStructs(schema, Map.empty, text, Some("UTC"), required)
      val e = BindReferences.bindReference[Expression](
        GetStructField(csv, required.fold(1)(_.fieldIndex("id"))),
        AttributeSeq(Seq(text)))
      lines.map(line => e.eval(rowOf(line)))
    }
    // As the optimizer has it read.
    val alone = Some(StructType(Seq(schema(1))))
    val quoted = ids("a,1,b", "\"C:\\\\\",5,\", etc.\"")(_)
    assert(quoted(None) == Seq[Any](1L, 5L) && quoted(alone) == Seq[Any](1L, null))
    def read(lines: String*) = ids(lines: _*)(None).last
    assert(read("a,775,n") == 775L && read("a,1\uFFFFx", "a,775,n") != 775L)
  }

  test("a BINARY that can't be read changes other fields, as does a text that is too long") {
    val schema = new StructType().add("id", LongType)
    val binary = rowOf("""{"id": 5, "s": "A"}""")
    assert(read(json(schema), 0, binary) == 5L)
    assert(read(json(schema.add("s", BinaryType)), 0, binary) == null)
    assert(Repeatability.mayDiffer(GetStructField(json(schema.add("s", BinaryType)), 0)))
    assert(!isWellFormed(rowOf(s"""{"id": 5, "s": "${"x" * 21000000}"}""")))
  }

  test("behind a VOID, the fields of another object are taken for the record's") {
    val schema = new StructType().add("id", LongType)
    val nested = rowOf("""{"v": {"id": 7}, "id": 5}""")
    assert(isWellFormed(nested))
    assert(read(json(schema), 0, nested) == 5L)
    assert(read(json(schema.add("v", NullType)), 0, nested) == 7L)
  }

  test("no function takes a text that isn't well-formed for NULL, and the text isn't quoted") {
    val text = WellFormedJson(Literal("{\"secret\": 01}"), Map.empty, Some("UTC"))
    val length = TryEval(Length(text))
    val error = intercept[WellFormedJson.MalformedJsonError](length.eval())
    assert(error.getMessage.startsWith("at character 1") && !error.getMessage.contains("secret"))
    // Spark logs causes too.
    assert(error.getCause == null)
    intercept[WellFormedJson.MalformedJsonError](
      GenerateUnsafeProjection.generate(Seq(length)).apply(InternalRow.empty))
    assert(WellFormedJson.Malformed.unapply(new RuntimeException(error)).contains(error))
  }

  test("a default is missing where another field can't be read, and its record isn't used") {
    val default = new MetadataBuilder().putString(EXISTS_DEFAULT_COLUMN_METADATA_KEY, "7").build()
    val one = StructType(Seq(StructField("a", LongType, nullable = true, default)))
    val row = rowOf("""{"b": "no number"}""")
    assert(read(json(one), 0, row) == 7L)
    assert(read(json(one.add("b", LongType)), 0, row) == null)
    assert(Repeatability.mayDiffer(GetStructField(json(one), 0)))
    assert(Repeatability.mayDiffer(GetStructField(json(new StructType().add("s", one)), 0)))
  }
}

object ParsedJsonSuite {

  private val Flat = new StructType()
    .add("id", LongType)
    .add("ts", TimestampType)
    .add("name", StringType)
    .add("day", DateType)
    .add("price", DecimalType(8, 2))

  private val Fields = Flat
    .add("inner", new StructType().add("id", IntegerType).add("ts", TimestampType))
    .add("list", ArrayType(new StructType().add("ts", TimestampType).add("n", IntegerType)))
    .add("map", MapType(StringType, TimestampType))
    .add("numbers", ArrayType(IntegerType))
    .add("lists", ArrayType(ArrayType(IntegerType)))
    .add("maps", MapType(StringType, ArrayType(DoubleType)))
    .add("flag", BooleanType)

  /** Mostly of this type. */
  private def value(r: Random, dataType: DataType): String = if (r.nextInt(6) == 0)
    Odd(r.nextInt(Odd.size))
  else dataType match {
    case LongType | IntegerType => r.nextInt(100).toString
    case TimestampType => Seq("\"2024-01-01T10:00:00\"", "\"10:00\"", "\"?\"")(r.nextInt(3))
    case DateType => "\"2024-02-0" + r.nextInt(10) + "\""
    case _: DecimalType => s"${r.nextInt(1000)}.${r.nextInt(100)}"
    case BooleanType => r.nextBoolean().toString
    case fields: StructType => objectOf(r, fields)
    case ArrayType(element, _) => Seq.fill(r.nextInt(4))(value(r, element)).mkString("[", ",", "]")
    case MapType(_, element, _) =>
      Seq.tabulate(r.nextInt(3))(i => s""""$i":${value(r, element)}""").mkString("{", ",", "}")
    case _ => "\"text " + r.nextInt(10) + "\""
  }

  private val Odd = Seq(
    "null",
    "\"\"",
    "1e400",
    "12345678901234567890123",
    "[1, [2], {\"id\": 3}]",
    "{\"id\": {\"id\": [4]}, \"ts\": []}",
    "NaN",
    "'x'",
    "\"a,b\"",
    "true")

  private def objectOf(r: Random, fields: StructType): String =
    // Some fields are missing, and some are there twice.
    r.shuffle(fields.toSeq ++ fields.filter(_ => r.nextInt(8) == 0)).filter(_ => r.nextInt(8) > 0)
      .map(field => s""""${field.name}": ${value(r, field.dataType)}""").mkString("{", ", ", "}")

  /** It is cut off, or has a character too few or too many. */
  private def broken(r: Random, text: String): String = {
    val at = r.nextInt(text.length + 1)
    r.nextInt(3) match {
      case 0 => text.take(at)
      case 1 => text.patch(at, "", 1)
      case _ => text.patch(at, Seq("\"", "}", "]", "{", ",", "\\", "\n", "0")(r.nextInt(8)), 0)
    }
  }
}
