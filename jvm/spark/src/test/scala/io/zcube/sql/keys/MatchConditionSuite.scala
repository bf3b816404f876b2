package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class MatchConditionSuite extends AnyFunSuite {

  private def column(name: String, dataType: DataType) = AttributeReference(name, dataType)()

  private val a = column("a", LongType)
  private val i = column("i", IntegerType)
  private val d = column("d", DoubleType)
  private val s = column("s", StructType(Seq(StructField("f", LongType))))
  private val x = column("x", LongType)
  private val y = column("y", IntegerType)
  private val z = column("z", DoubleType)

  private def read(condition: Expression) =
    new MatchCondition(condition, AttributeSet(Seq(a, i, d, s)), AttributeSet(Seq(x, y, z)))

  private def pairs(condition: Expression) = read(condition).pairs

  test("equalities of a column and an expression of the source, on either side") {
    assert(pairs(And(EqualTo(a, x), GreaterThan(a, x))) == Seq(KeyPair(a, x, nullSafe = false)))
    assert(pairs(EqualTo(Add(x, Literal(1L)), a)).map(_.column) == Seq(a))
    assert(pairs(EqualNullSafe(a, x)) == Seq(KeyPair(a, x, nullSafe = true)))
    assert(pairs(EqualTo(GetStructField(s, 0), x)).size == 1)
    assert(read(And(EqualTo(a, x), GreaterThan(x, Literal(3L)))).ofSource.size == 1)
  }

  test("conditions that imply nothing about the target are left out") {
    Seq(
      Or(EqualTo(a, x), EqualTo(a, Literal(1L))),
      Not(EqualTo(a, x)),
      EqualTo(a, Literal(1L)),
      EqualTo(a, Add(a, x)),
      EqualTo(Add(a, Literal(1L)), x),
      EqualTo(d, z),
      EqualTo(x, Literal(1L)),
      EqualNullSafe(GetStructField(s, 0), x),
      EqualTo(a, ScalaUDF((_: Long) => 1L, LongType, Seq(x))),
      EqualTo(d, Cast(x, DoubleType)),
      EqualTo(Cast(a, IntegerType), y)
    ).foreach(condition => assert(pairs(condition).isEmpty, condition))
    assert(!MatchCondition.isOrdered(StringType("UTF8_LCASE")))
    assert(!MatchCondition.isOrdered(FloatType))
    assert(!MatchCondition.isOrdered(BinaryType))
    assert(MatchCondition.isOrdered(StringType))
    assert(read(EqualTo(x, ScalaUDF((_: Long) => 1L, LongType, Seq(x)))).ofSource.isEmpty)
  }

  test("a key of a wider type is NULL if no value of the column equals it") {
    val Seq(pair) = pairs(EqualTo(Cast(i, LongType), x))
    assert(pair.column == i && pair.key.dataType == IntegerType)
    def of(value: Any) = BindReferences.bindReference(pair.key, Seq(x)).eval(InternalRow(value))
    assert(of(7L) == 7)
    assert(of(Int.MaxValue.toLong) == Int.MaxValue)
    assert(of(Int.MinValue.toLong) == Int.MinValue)
    assert(of(Int.MaxValue + 1L) == null)
    assert(of(Long.MinValue) == null)
    assert(of(null) == null)
  }
}
