package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class MatchConditionSuite extends AnyFunSuite {
  import SourceBounds._

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
    SourceBounds.point(of, key, ifNull)

  private def from(of: Expression, key: Expression) =
    SourceBounds(of, Some(key), None, MatchesNothing)

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

  test("a comparison bounds the column, whichever side it is on") {
    assert(alternatives(GreaterThan(a, x)) == Seq(Seq(from(a, x))))
    assert(alternatives(LessThanOrEqual(x, a)) == Seq(Seq(from(a, x))))
    val within = SourceBounds(a, Some(x), Some(Add(x, Literal(9L))), MatchesNothing)
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
    assert(!KeyTypes.isOrdered(StringType("UTF8_LCASE")))
    assert(!KeyTypes.isOrdered(FloatType))
    assert(!KeyTypes.isOrdered(BinaryType))
    assert(KeyTypes.isOrdered(StringType))
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
    val text = Cast(column("text", StringType), TimestampType, Some("UTC"))
    assert(alternatives(EqualTo(a, Cast(text, LongType, Some("UTC")))).isEmpty)
    // As one side of an OR, where constants count too.
    val day = Cast(Literal("today"), DateType)
    assert(alternatives(Or(EqualTo(b, day), EqualTo(a, x))).isEmpty)
    assert(alternatives(Or(EqualTo(b, Literal(7, DateType)), EqualTo(a, x))).size == 2)
  }

  test("a long IN says nothing") {
    assert(alternatives(In(a, Seq.fill(100000)(x))).isEmpty)
    assert(alternatives(In(a, Seq(x, Literal(3L)))).size == 2)
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
