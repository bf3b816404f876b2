package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogStorageFormat, CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.expressions.RangePartitionId
import io.zcube.sql.plans.RangeIds

class RepeatableColumnsSuite extends AnyFunSuite {

  private val k = AttributeReference("k", LongType)()
  private val x = AttributeReference("x", StringType)()
  private val table = LocalRelation(k, x)

  private def time(text: Expression) = Cast(text, TimestampType, Some("UTC"))
  private val ts = Alias(time(x), "ts")()

  private def of(plan: LogicalPlan): Option[Seq[Attribute]] =
    RepeatableColumns.of(plan).map(same => plan.output.filter(same.suffice))

  test("a column that needs the present day is none, nor what is made from it; others are") {
    assert(of(table).contains(Seq(k, x)))
    val project = Project(Seq(k, ts, x), table)
    assert(of(project).contains(Seq(k, x)))
    val year = Alias(Year(ts.toAttribute), "year")()
    val next = Alias(Add(k, Literal(1L)), "next")()
    val above = Project(Seq(year, next, ts.toAttribute), SubqueryAlias("s", project))
    assert(of(above).contains(Seq(next.toAttribute)))
  }

  test("metadata of files is none: their blocks depend on how many cores read them") {
    val metadata = FileSourceMetadataAttribute("_metadata", new StructType().add("b", LongType))
    assert(of(LocalRelation(k, metadata)).contains(Seq(k)))
    assert(of(Project(Seq(k, metadata), LocalRelation(k, metadata))).contains(Seq(k)))
  }

  test("range ids are none, as they depend on the columns that a plan reads") {
    val id = RangePartitionId(k, Literal(10))
    assert(of(Project(Seq(k, Alias(id, "id")()), table)).contains(Seq(k)))
    assert(of(Filter(EqualTo(id, Literal(3)), table)).isEmpty)
    assert(of(RangeIds(
      Seq(id),
      Seq(AttributeReference("id", IntegerType)()),
      table,
      table)).isEmpty)
  }

  test("of a view, those of its query") {
    def view(query: LogicalPlan) = View(
      CatalogTable(
        TableIdentifier("v"),
        CatalogTableType.VIEW,
        CatalogStorageFormat.empty,
        new StructType()),
      isTempView = true,
      query)
    assert(of(view(Project(Seq(k, ts), table))).contains(Seq(k)))
    assert(of(view(Filter(IsNotNull(ts.toAttribute), Project(Seq(k, ts), table)))).isEmpty)
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

  test("of a struct from JSON with a time, the other fields are the same, also further up") {
    val inner = new StructType().add("id", LongType).add("ts", TimestampType)
    val schema = new StructType().add("id", LongType).add("ts", TimestampType).add("s", inner)
    def json(text: Expression, schema: DataType = schema) =
      Alias(JsonToStructs(schema, Map.empty, text, Some("UTC")), "data")()
    def field(of: Expression, path: Int*) = path.foldLeft(of)(GetStructField(_, _))
    val data = json(x)
    val project = Project(Seq(k, data), table)
    val same = RepeatableColumns.of(project).get
    assert(same.suffice(k) && !same.isEmpty)
    for (path <- Seq(Seq(0), Seq(2, 0)))
      assert(same.suffice(field(data.toAttribute, path: _*)), path)
    for (path <- Seq(Seq(), Seq(1), Seq(2), Seq(2, 1)))
      assert(!same.suffice(field(data.toAttribute, path: _*)), path)
    val id = Alias(field(data.toAttribute, 0), "id")()
    val s = Alias(field(data.toAttribute, 2), "s")()
    val above = Project(Seq(id, s, Alias(data.toAttribute, "again")()), SubqueryAlias("q", project))
    assert(of(above).contains(Seq(id.toAttribute)))
    val known = RepeatableColumns.of(above).get
    assert(known.suffice(field(s.toAttribute, 0)) && !known.suffice(field(s.toAttribute, 1)))
    assert(known.suffice(field(above.output(2), 0)))
    // In other plans the whole struct is compared, or isn't one.
    assert(of(Filter(IsNotNull(field(data.toAttribute, 0)), project)).isDefined)
    assert(of(Filter(IsNotNull(field(data.toAttribute, 1)), project)).isEmpty)
    assert(of(Distinct(project)).isEmpty)
    val union = Union(Seq(project, project))
    assert(RepeatableColumns.of(union).get == RepeatableColumns(AttributeSet(k)))
    val list = json(x, ArrayType(schema))
    val first = GetStructField(GetArrayItem(list.toAttribute, Literal(0)), 0)
    assert(!RepeatableColumns.of(Project(Seq(list), table)).get.suffice(first))
    // Another field, or what it is made from, may change all of them.
    for (tied <- Seq(
        json(x, schema.add("v", VariantType)),
        json(Cast(time(x), StringType, Some("UTC")))))
      assert(RepeatableColumns.of(Project(Seq(tied), table)).get.isEmpty, tied)
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
    val first = ScalarSubquery(Limit(Literal(1), Project(Seq(k), table)))
    assert(in(first).isEmpty)
    // The same within a subquery.
    def within(left: Expression) =
      ListQuery(Project(Seq(k), Filter(InSubquery(Seq(left), list), table)), numCols = 1)
    assert(RepeatableColumns.of(Filter(InSubquery(Seq(k), within(k)), table)).isDefined)
    assert(RepeatableColumns.of(Filter(InSubquery(Seq(k), within(first)), table)).isEmpty)
  }
}
