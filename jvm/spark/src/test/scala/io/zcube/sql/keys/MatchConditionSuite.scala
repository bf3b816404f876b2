package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.util.CharVarcharCodegenUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class MatchConditionSuite extends AnyFunSuite {
  import KeyRange._

  private def column(name: String, dataType: DataType) = AttributeReference(name, dataType)()

  private val a = column("a", LongType)
  private val i = column("i", IntegerType)
  private val d = column("d", DoubleType)
  private val s = column("s", StructType(Seq(StructField("f", LongType))))
  private val x = column("x", LongType)
  private val y = column("y", IntegerType)
  private val z = column("z", DoubleType)

  private val b = column("b", DateType)
  private val c = column("c", DecimalType(10, 2))
  private val w = column("w", DecimalType(12, 4))
  private val u = column("u", TimestampType)

  private def read(condition: Expression) =
    new MatchCondition(
      condition,
      AttributeSet(Seq(a, i, d, s, b, c)),
      RepeatableColumns(AttributeSet(Seq(x, y, z, w, u))))

  private def alternatives(condition: Expression) = read(condition).alternatives

  private def point(of: Expression, key: Expression, ifNull: IfNull = MatchesNothing) =
    KeyRange.point(of, key, ifNull)

  private def from(of: Expression, key: Expression) =
    KeyRange(of, Some(key), None, MatchesNothing)

  test("equalities of a column and an expression of the source, on either side") {
    assert(alternatives(And(EqualTo(a, x), GreaterThan(a, x))) == Seq(Seq(point(a, x))))
    assert(alternatives(EqualTo(Add(x, Literal(1L)), a)).flatten.map(_.column) == Seq(a))
    assert(alternatives(EqualNullSafe(a, x)) == Seq(Seq(point(a, x, MatchesNull))))
    assert(alternatives(EqualTo(GetStructField(s, 0), x)).size == 1)
    assert(read(And(EqualTo(a, x), GreaterThan(x, Literal(3L)))).ofSource.size == 1)
  }

  test(
    "conditions on columns with values that are equal and not the same say nothing of the source") {
    val c = column("c", StringType("UTF8_LCASE"))
    val zero = EqualTo(Cast(z, StringType, Some("UTC")), Literal("0.0"))
    val small = EqualTo(Cast(c, StringType), Literal("new"))
    val condition = Seq[Expression](EqualTo(a, x), zero, small, GreaterThan(x, Literal(3L)))
      .reduce(And(_, _))
    val found = new MatchCondition(
      condition,
      AttributeSet(Seq(a)),
      RepeatableColumns(AttributeSet(Seq(x, z, c))))
    assert(found.ofSource == Seq(GreaterThan(x, Literal(3L))))
    assert(found.alternatives == Seq(Seq(point(a, x))))
  }

  test("NULLs of a field are not counted") {
    val field = GetStructField(s, 0)
    assert(alternatives(EqualNullSafe(field, x)) == Seq(Seq(point(field, x, MatchesAnything))))
  }

  test("ranges, on either side") {
    assert(alternatives(GreaterThan(a, x)) == Seq(Seq(from(a, x))))
    assert(alternatives(LessThanOrEqual(x, a)) == Seq(Seq(from(a, x))))
    val within = KeyRange(a, Some(x), Some(Add(x, Literal(9L))), MatchesNothing)
    assert(alternatives(And(
      GreaterThanOrEqual(a, x),
      LessThan(a, Add(x, Literal(9L))))) == Seq(Seq(within)))
    assert(alternatives(new Between(a, x, Add(x, Literal(9L)))) == Seq(Seq(within)))
  }

  test("an OR says something if each side does") {
    assert(alternatives(Or(EqualTo(a, x), EqualTo(i, y))) == Seq(
      Seq(point(a, x)),
      Seq(point(i, y))))
    assert(alternatives(In(a, Seq(x, Add(x, Literal(1L))))).size == 2)
    val both = alternatives(And(EqualTo(i, y), Or(EqualTo(a, x), EqualTo(a, Literal(1L)))))
    assert(both == Seq(Seq(point(i, y), point(a, x)), Seq(point(i, y), point(a, Literal(1L)))))
    val nulls = And(IsNull(a), IsNull(x))
    assert(alternatives(Or(EqualTo(a, x), nulls)).map(_.map(_.ifNull)) ==
      Seq(Seq(MatchesNothing), Seq(MatchesNull)))
    // More than 8 combinations: the second OR is left out.
    val many = In(a, Seq.tabulate(5)(n => Add(x, Literal(n.toLong))))
    assert(alternatives(And(many, In(i, Seq(y, Add(y, Literal(1)))))).map(_.size) == Seq.fill(5)(1))
  }

  test("conditions that imply nothing about the target are left out") {
    Seq(
      Or(EqualTo(a, x), EqualTo(x, Literal(1L))),
      Or(EqualTo(a, x), EqualTo(d, z)),
      Or(EqualTo(a, Literal(2L)), EqualTo(a, Literal(1L))),
      Not(EqualTo(a, x)),
      EqualTo(a, Literal(1L)),
      IsNull(a),
      EqualTo(a, Add(a, x)),
      EqualTo(Add(a, Literal(1L)), x),
      EqualTo(d, z),
      EqualTo(x, Literal(1L)),
      EqualTo(a, ScalaUDF((_: Long) => 1L, LongType, Seq(x))),
      // As functions of catalogs are called.
      EqualTo(a, StaticInvoke(classOf[java.lang.Math], LongType, "abs", Seq(x))),
      EqualTo(a, Invoke(Literal.create("", ObjectType(classOf[String])), "hashCode", LongType)),
      EqualTo(d, Cast(x, DoubleType)),
      EqualTo(Cast(a, IntegerType), y),
      EqualTo(Cast(c, DecimalType(11, 1)), Cast(w, DecimalType(11, 1))),
      EqualTo(Cast(b, StringType), Cast(x, StringType)),
      GreaterThan(Cast(c, DecimalType(12, 4)), w)
    ).foreach(condition => assert(alternatives(condition).isEmpty, condition))
    assert(!MatchCondition.isOrdered(StringType("UTF8_LCASE")))
    assert(!MatchCondition.isOrdered(FloatType))
    assert(!MatchCondition.isOrdered(BinaryType))
    assert(MatchCondition.isOrdered(StringType))
    assert(read(EqualTo(x, ScalaUDF((_: Long) => 1L, LongType, Seq(x)))).ofSource.isEmpty)
  }

  private def evaluated(key: Expression, column: Attribute, value: Any) =
    BindReferences.bindReference(key, Seq(column)).eval(InternalRow(value))

  test("a key that holds the time of its plan isn't used") {
    def key(text: String) =
      Add(x, Cast(Cast(Literal(text), TimestampType, Some("UTC")), LongType, Some("UTC")))
    Seq("now", " Today ", "tomorrow UTC").foreach { text =>
      assert(alternatives(EqualTo(a, key(text))).isEmpty, text)
    }
    assert(alternatives(EqualTo(a, key("2024-01-01"))).size == 1)
    // As one side of an OR, where constants count too.
    val day = Cast(Literal("today"), DateType)
    assert(alternatives(Or(EqualTo(b, day), EqualTo(a, x))).isEmpty)
    assert(alternatives(Or(EqualTo(b, Literal(7, DateType)), EqualTo(a, x))).size == 2)
  }

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
    ).foreach(differs => assert(MatchCondition.mayDiffer(differs), differs))
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
    ).foreach(same => assert(!MatchCondition.mayDiffer(same), same))
    assert(alternatives(EqualTo(a, Cast(time(text), LongType, Some("UTC")))).isEmpty)
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
          assert(MatchCondition.mayDiffer(time(format)), format))
      Seq("yyyy-MM-dd", "HH:mm").foreach(format =>
        assert(!MatchCondition.mayDiffer(time(Literal(format))), format))
      val days = new StructType().add("a", DateType)
      assert(MatchCondition.mayDiffer(
        JsonToStructs(days, Map("dateFormat" -> "dd.MM.yy"), text, Some("UTC"))))
      assert(!MatchCondition.mayDiffer(NextDay(b, text)))
    }
  }

  test("CSV, which depends on the rows before, isn't used") {
    for (option <- Seq(Map.empty[String, String], Map("sep" -> ","))) {
      val one = new StructType().add("a", LongType)
      val csv = CsvToStructs(one, option, column("text", StringType), Some("UTC"))
      assert(MatchCondition.mayDiffer(csv) && MatchCondition.mayDiffer(GetStructField(csv, 0)))
    }
  }

  test("JSON with a column for corrupt records isn't used") {
    def json(options: (String, String)*) = JsonToStructs(
      new StructType().add("a", LongType).add("bad", StringType),
      options.toMap,
      column("text", StringType),
      Some("UTC"))
    assert(!MatchCondition.mayDiffer(json()))
    val variant = new StructType().add("a", LongType).add("b", VariantType)
    assert(MatchCondition.mayDiffer(
      JsonToStructs(variant, Map.empty, column("text", StringType), Some("UTC"))))
    assert(MatchCondition.mayDiffer(json("columnNameOfCorruptRecord" -> "bad")))
    val conf = new SQLConf
    conf.setConfString(SQLConf.COLUMN_NAME_OF_CORRUPT_RECORD.key, "bad")
    assert(SQLConf.withExistingConf(conf)(MatchCondition.mayDiffer(json())))
    val whole = new SQLConf
    whole.setConfString(SQLConf.JSON_ENABLE_PARTIAL_RESULTS.key, "false")
    assert(SQLConf.withExistingConf(whole)(MatchCondition.mayDiffer(json())))
  }

  test("a TIMESTAMP in JSON doesn't keep other fields from being used") {
    val text = column("text", StringType)
    val fields = new StructType().add("a", LongType).add("t", TimestampType)
      .add("s", new StructType().add("b", DateType).add("u", ArrayType(TimestampType)))
    val json = JsonToStructs(fields, Map.empty, text, Some("UTC"))
    def field(of: Expression, path: Int*) = path.foldLeft(of)(GetStructField(_, _))
    for (same <- Seq(field(json, 0), field(json, 2, 0)))
      assert(!MatchCondition.mayDiffer(same), same)
    for (differs <- Seq(json, field(json, 1), field(json, 2), field(json, 2, 1)))
      assert(MatchCondition.mayDiffer(differs), differs)
    for (more <- Seq("b" -> BinaryType, "v" -> MapType(StringType, NullType), "a" -> LongType)) {
      val tied = fields.add(more._1, more._2)
      assert(MatchCondition.mayDiffer(field(json.copy(schema = tied), 0)), more)
    }
    assert(MatchCondition.mayDiffer(field(
      json.copy(options = Map("MaxNestingDepth" -> "3000")),
      0)))
    assert(MatchCondition.mayDiffer(StructsToJson(Map.empty, column("s", fields), Some("UTC"))))
    // What the record is made from may differ itself.
    val now = Cast(Cast(text, TimestampType, Some("UTC")), StringType, Some("UTC"))
    assert(MatchCondition.mayDiffer(field(json.copy(child = now), 0)))
    assert(MatchCondition.mayDiffer(GetStructField(
      GetArrayItem(JsonToStructs(ArrayType(fields), Map.empty, text, Some("UTC")), Literal(0)),
      0)))
  }

  test("a long IN says nothing") {
    assert(alternatives(In(a, Seq.fill(100000)(x))).isEmpty)
    assert(alternatives(In(a, Seq(x, Literal(3L)))).size == 2)
  }

  test("functions that stand for others are read in time that grows with their depth") {
    val nested = (0 until 60).foldLeft[Expression](x)((e, i) => new Nvl(e, Literal(i.toLong)))
    assert(!MatchCondition.mayDiffer(nested))
    val now = Cast(Literal("now"), TimestampType, Some("UTC"))
    assert(MatchCondition.mayDiffer(new Nvl(new Nvl(now, now), Literal(null, TimestampType))))
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
      assert(MatchCondition.mayDiffer(differs), differs)
    assert(!MatchCondition.mayDiffer(padded.copy(arguments = Seq(x, Literal(3)))))
    assert(!MatchCondition.mayDiffer(Cast(Literal("7"), LongType)))
  }

  test("a key of a wider type is NULL if no value of the column equals it") {
    val Seq(Seq(range)) = alternatives(EqualTo(Cast(i, LongType), x))
    assert(range.column == i && range.low.get.dataType == IntegerType && range.isPoint)
    def of(value: Any) = evaluated(range.low.get, x, value)
    assert(of(7L) == 7)
    assert(of(Int.MaxValue.toLong) == Int.MaxValue)
    assert(of(Int.MinValue.toLong) == Int.MinValue)
    assert(of(Int.MaxValue + 1L) == null)
    assert(of(Long.MinValue) == null)
    assert(of(null) == null)
    val Seq(Seq(exact)) = alternatives(EqualTo(Cast(c, DecimalType(12, 4)), w))
    def decimal(text: String, scale: Int) = Decimal(BigDecimal(text), 12, scale)
    assert(evaluated(exact.low.get, w, decimal("3.2500", 4)) == decimal("3.25", 2))
    assert(evaluated(exact.low.get, w, decimal("3.2501", 4)) == null)
  }

  test("a bound of a wider type is the type's own limit if it is beyond it") {
    val Seq(Seq(least)) = alternatives(GreaterThanOrEqual(Cast(i, LongType), x))
    assert(evaluated(least.low.get, x, 7L) == 7)
    assert(evaluated(least.low.get, x, Long.MinValue) == Int.MinValue)
    assert(evaluated(least.low.get, x, Long.MaxValue) == null)
    assert(evaluated(least.low.get, x, null) == null)
    val Seq(Seq(most)) = alternatives(LessThan(Cast(i, LongType), x))
    assert(evaluated(most.high.get, x, Long.MaxValue) == Int.MaxValue)
    assert(evaluated(most.high.get, x, Long.MinValue) == null)
  }

  test("dates compared as times get a day of tolerance") {
    val zone = Some("Pacific/Apia")
    val Seq(Seq(range)) =
      alternatives(EqualTo(Cast(b, TimestampType, zone, EvalMode.LEGACY), u))
    val day = 15340
    val noon = day * 86400000000L
    assert(evaluated(range.low.get, u, noon) == day - 1)
    assert(evaluated(range.high.get, u, noon) == day + 1)
  }
}
