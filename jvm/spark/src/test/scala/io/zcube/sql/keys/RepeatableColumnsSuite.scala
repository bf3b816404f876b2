package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

class RepeatableColumnsSuite extends AnyFunSuite {

  private val k = AttributeReference("k", LongType)()
  private val x = AttributeReference("x", StringType)()
  private val table = LocalRelation(k, x)

  private def time(text: Expression) = Cast(text, TimestampType, Some("UTC"))
  private val ts = Alias(time(x), "ts")()

  private def of(plan: LogicalPlan): Option[Seq[Attribute]] =
    RepeatableColumns.of(plan).map(same => plan.output.filter(same.contains))

  test("a column that needs the present day is none, nor what is made from it; others are") {
    assert(of(table).contains(Seq(k, x)))
    val project = Project(Seq(k, ts, x), table)
    assert(of(project).contains(Seq(k, x)))
    val year = Alias(Year(ts.toAttribute), "year")()
    val next = Alias(Add(k, Literal(1L)), "next")()
    val above = Project(Seq(year, next, ts.toAttribute), SubqueryAlias("s", project))
    assert(of(above).contains(Seq(next.toAttribute)))
  }

  test("a filter by such a column makes the rows others, as does DISTINCT") {
    val project = Project(Seq(k, ts), table)
    def above(e: Expression) = Filter(IsNotNull(e), project)
    assert(of(above(k)).contains(Seq(k)))
    assert(of(above(ts.toAttribute)).isEmpty)
    assert(of(above(time(Literal("now")))).isEmpty)
    assert(of(Distinct(project)).isEmpty)
    assert(of(Distinct(Project(Seq(k), project))).contains(Seq(k)))
    assert(of(Project(Seq(k), Filter(IsNotNull(ts.toAttribute), project))).isEmpty)
    // Whether it makes one of two zeros depends on the plan.
    val f = AttributeReference("f", DoubleType)()
    assert(of(Distinct(LocalRelation(k, f))).contains(Seq(k)))
  }

  test("a column of a union is one if it is in each part") {
    val u = AttributeReference("u", TimestampType)()
    val other = AttributeReference("k", LongType)()
    val one = Project(Seq(k, ts), table)
    val stable = LocalRelation(other, u)
    assert(of(Union(Seq(stable, one))).contains(Seq(other)))
    assert(of(Union(Seq(stable, stable.newInstance()))).contains(Seq(other, u)))
    assert(of(Union(Seq(stable, Filter(IsNotNull(ts.toAttribute), one)))).isEmpty)
  }

  test("a subquery is looked into, and other plans aren't understood") {
    def of(value: Expression) =
      ScalarSubquery(Project(Seq(Alias(value, "value")()), OneRowRelation()))
    def above(value: Expression) = Filter(EqualTo(k, Cast(of(value), LongType, Some("UTC"))), table)
    assert(RepeatableColumns.of(above(Literal(1L))).isDefined)
    assert(RepeatableColumns.of(above(time(Literal("10:00")))).isEmpty)
    assert(RepeatableColumns.of(Limit(Literal(1), table)).isEmpty)
    // Delta's check looks only at the right side.
    val list = ListQuery(Project(Seq(k), table), numCols = 1)
    def in(left: Expression) = RepeatableColumns.of(Filter(InSubquery(Seq(left), list), table))
    assert(in(k).isDefined)
    assert(in(Cast(Rand(Literal(7L)), LongType, Some("UTC"))).isEmpty)
    assert(in(ScalarSubquery(Limit(Literal(1), Project(Seq(k), table)))).isEmpty)
  }
}
