package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class RepeatabilitySuite extends AnyFunSuite {

  private def column(name: String, dataType: DataType) = AttributeReference(name, dataType)()

  private val x = column("x", LongType)
  private val b = column("b", DateType)
  private val u = column("u", TimestampType)

  test("a time of day that becomes one of the present day isn't used") {
    val text = column("text", StringType)
    val texts = column("texts", ArrayType(StringType))
    val json = column("json", VariantType)
    val times = new StructType().add("a", TimestampType)
    val parsed = GetTimestamp(text, Literal("yy"), TimestampType, timeZoneId = Some("UTC"))
    def time(from: Expression, to: DataType = TimestampType) = Cast(from, to, Some("UTC"))
    Seq(
      time(text),
      time(Literal("10:00")),
      time(Literal("T10:00")),
      Coalesce(Seq(u, time(text))),
      GetArrayItem(time(texts, ArrayType(TimestampType)), Literal(0)),
      time(json),
      // Constants too, as each plan evaluates them anew.
      time(CreateArray(Seq(Literal("10:00"))), ArrayType(TimestampType)),
      time(CreateNamedStruct(Seq(Literal("a"), Literal("10:00"))), times),
      JsonToStructs(times, Map.empty, Literal("{\"a\":\"10:00\"}"), Some("UTC")),
      // Beside what is a time already.
      time(
        CreateNamedStruct(Seq(Literal("a"), text, Literal("b"), u)),
        times.add("b", TimestampType)),
      time(
        column("map", MapType(TimestampType, StringType)),
        MapType(TimestampType, TimestampType)),
      ParseToTimestamp(text, None, TimestampType, Some("UTC"))
    ).foreach(differs => assert(Repeatability.mayDiffer(differs), differs))
    Seq(
      time(text, DateType),
      time(text, TimestampNTZType),
      time(b),
      time(x),
      time(Literal("2024-01-01 10:00")),
      time(Literal(null, StringType)),
      time(Literal(7L)),
      If(EqualTo(text, Literal("a")), u, Literal(0L, TimestampType)),
      TruncTimestamp(Literal("DAY"), u, Some("UTC")),
      CreateNamedStruct(Seq(Literal("a"), text, Literal("b"), Literal(0L, TimestampType))),
      parsed
    ).foreach(same => assert(!Repeatability.mayDiffer(same), same))
    val conf = new SQLConf
    conf.setConfString(SQLConf.LEGACY_TIME_PARSER_POLICY.key, "LEGACY")
    SQLConf.withExistingConf(conf) {
      def time(format: Expression) =
        GetTimestamp(text, format, TimestampType, timeZoneId = Some("UTC"))
      // Years of a week too, and a format that isn't known yet.
      Seq(
        Literal("yy"),
        Literal("dd.MM.y HH:mm"),
        Literal("YY-ww"),
        Literal("yyyyYY"),
        Literal("yyyy Z"),
        text)
        .foreach(format =>
          assert(Repeatability.mayDiffer(time(format)), format))
      Seq("yyyy-MM-dd", "HH:mm").foreach(format =>
        assert(!Repeatability.mayDiffer(time(Literal(format))), format))
      val days = new StructType().add("a", DateType)
      assert(Repeatability.mayDiffer(
        JsonToStructs(days, Map("dateFormat" -> "dd.MM.yy"), text, Some("UTC"))))
      assert(!Repeatability.mayDiffer(NextDay(b, text)))
    }
  }

  test("CSV, which depends on the rows before, isn't used") {
    for (option <- Seq(Map.empty[String, String], Map("sep" -> ","))) {
      val one = new StructType().add("a", LongType)
      val csv = CsvToStructs(one, option, column("text", StringType), Some("UTC"))
      assert(Repeatability.mayDiffer(csv) && Repeatability.mayDiffer(GetStructField(csv, 0)))
    }
  }

  test("JSON with a column for corrupt records isn't used") {
    def json(options: (String, String)*) = JsonToStructs(
      new StructType().add("a", LongType).add("bad", StringType),
      options.toMap,
      column("text", StringType),
      Some("UTC"))
    assert(!Repeatability.mayDiffer(json()))
    val variant = new StructType().add("a", LongType).add("b", VariantType)
    assert(Repeatability.mayDiffer(
      JsonToStructs(variant, Map.empty, column("text", StringType), Some("UTC"))))
    assert(Repeatability.mayDiffer(json("columnNameOfCorruptRecord" -> "bad")))
    val conf = new SQLConf
    conf.setConfString(SQLConf.COLUMN_NAME_OF_CORRUPT_RECORD.key, "bad")
    assert(SQLConf.withExistingConf(conf)(Repeatability.mayDiffer(json())))
    val whole = new SQLConf
    whole.setConfString(SQLConf.JSON_ENABLE_PARTIAL_RESULTS.key, "false")
    assert(SQLConf.withExistingConf(whole)(Repeatability.mayDiffer(json())))
  }

  test("XML is used if none of its fields may differ: it is always read as a whole") {
    def xml(fields: StructType) =
      XmlToStructs(fields, Map.empty[String, String], column("text", StringType), Some("UTC"))
    val plain = new StructType().add("a", LongType).add("b", DateType)
    assert(!Repeatability.mayDiffer(GetStructField(xml(plain), 0)))
    assert(Repeatability.mayDiffer(GetStructField(xml(plain.add("t", TimestampType)), 0)))
    val conf = new SQLConf
    conf.setConfString(SQLConf.LEGACY_TIME_PARSER_POLICY.key, "LEGACY")
    assert(SQLConf.withExistingConf(conf)(Repeatability.mayDiffer(xml(plain))))
  }

  test("of an array of JSON, a TIMESTAMP keeps all fields from being used") {
    def field(element: StructType, ordinal: Int) = GetArrayStructFields(
      JsonToStructs(ArrayType(element), Map.empty, column("text", StringType), Some("UTC")),
      element(ordinal),
      ordinal,
      element.size,
      containsNull = true)
    val plain = new StructType().add("a", LongType).add("b", StringType)
    assert(!Repeatability.mayDiffer(field(plain, 0)))
    for (more <- Seq[DataType](TimestampType, VariantType, BinaryType, NullType))
      assert(Repeatability.mayDiffer(field(plain.add("c", more), 0)), more)
  }

  test("a TIMESTAMP in JSON doesn't keep other fields from being used") {
    val text = column("text", StringType)
    val fields = new StructType().add("a", LongType).add("t", TimestampType)
      .add("s", new StructType().add("b", DateType).add("u", ArrayType(TimestampType)))
    val json = JsonToStructs(fields, Map.empty, text, Some("UTC"))
    def field(of: Expression, path: Int*) = path.foldLeft(of)(GetStructField(_, _))
    for (same <- Seq(field(json, 0), field(json, 2, 0)))
      assert(!Repeatability.mayDiffer(same), same)
    for (differs <- Seq(json, field(json, 1), field(json, 2), field(json, 2, 1)))
      assert(Repeatability.mayDiffer(differs), differs)
    for (more <- Seq("b" -> BinaryType, "v" -> MapType(StringType, NullType), "a" -> LongType)) {
      val tied = fields.add(more._1, more._2)
      assert(Repeatability.mayDiffer(field(json.copy(schema = tied), 0)), more)
    }
    assert(Repeatability.mayDiffer(field(
      json.copy(options = Map("MaxNestingDepth" -> "3000")),
      0)))
    assert(Repeatability.mayDiffer(StructsToJson(Map.empty, column("s", fields), Some("UTC"))))
    // What the record is made from may differ itself.
    val now = Cast(Cast(text, TimestampType, Some("UTC")), StringType, Some("UTC"))
    assert(Repeatability.mayDiffer(field(json.copy(child = now), 0)))
    assert(Repeatability.mayDiffer(GetStructField(
      GetArrayItem(JsonToStructs(ArrayType(fields), Map.empty, text, Some("UTC")), Literal(0)),
      0)))
  }

  test("functions that stand for others are read in time that grows with their depth") {
    val nested = (0 until 60).foldLeft[Expression](x)((e, i) => new Nvl(e, Literal(i.toLong)))
    assert(!Repeatability.mayDiffer(nested))
    val now = Cast(Literal("now"), TimestampType, Some("UTC"))
    assert(Repeatability.mayDiffer(new Nvl(new Nvl(now, now), Literal(null, TimestampType))))
  }

  test("what may differ is found below casts of constant texts, and below padding") {
    // As text it is NULL here, but the optimizer puts the present time in its place.
    val time = Cast(Literal("now"), TimestampType, Some("UTC"), EvalMode.TRY)
    val function = StaticInvoke(classOf[String], StringType, "of", Nil)
    val padded = StaticInvoke(
      classOf[CharVarcharCodegenUtils],
      StringType,
      "readSidePadding",
      Seq(function, Literal(3)))
    for (differs <-
        Seq(Cast(Cast(time, StringType, Some("UTC")), DateType), Cast(function, LongType), padded))
      assert(Repeatability.mayDiffer(differs), differs)
    assert(!Repeatability.mayDiffer(padded.copy(arguments = Seq(x, Literal(3)))))
    assert(!Repeatability.mayDiffer(Cast(Literal("7"), LongType)))
  }
}
