package io.zcube.sql.predicates

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession
import io.zcube.sql.values.ValueOrdering

class PredicateReaderSuite extends AnyFunSuite with ZCubeSparkSession {

  private def classicSession: SparkSession = spark.asInstanceOf[SparkSession]

  private val schema = StructType.fromDDL(
    "i INT, l BIGINT, s STRING, d DATE, t TIMESTAMP, n DECIMAL(10,2), b BOOLEAN, f DOUBLE, " +
      "st STRUCT<x: INT>, other INT")

  private val columns = Seq("i", "l", "s", "d", "t", "n", "b", "f").map(Seq(_)) :+ Seq("st", "x")

  private def resolved(text: String): Expression = {
    val state = classicSession.sessionState
    val predicate = state.sqlParser.parseExpression(text)
    state.executePlan(Filter(predicate, LocalRelation(toAttributes(schema)))).analyzed
      .collectFirst { case Filter(condition, _) => condition }.get
  }

  private def read(text: String): PredicateBoxes = classicSession.withActive {
    new PredicateReader(columns).read(SimplifiedCondition.of(resolved(text), toAttributes(schema)))
  }

  private def end(end: Option[Interval.End]): String =
    end.fold("-")(e => s"${e.value}${if (e.inclusive) "" else "!"}")

  private def show(range: ValueRange): String =
    range.values.fold("")(i => s"[${end(i.lower)}, ${end(i.upper)}]") +
      (if (range.nulls) "NULL" else "")

  /** Boxes as text: the number of the column, `!` for an end that is not in it. */
  private def shown(text: String): Seq[String] = read(text).boxes.map(
    _.toSeq.sortBy(_._1).map { case (c, range) => s"$c${show(range)}" }.mkString(" "))

  test("comparisons become ranges, either way round") {
    assert(shown("i = 5") === Seq("0[5, 5]"))
    assert(shown("5 < i") === Seq("0[5!, -]"))
    assert(shown("i <= 5") === Seq("0[-, 5]"))
    assert(shown("5 >= i") === Seq("0[-, 5]"))
    assert(shown("i BETWEEN 3 AND 7") === Seq("0[3, 7]"))
    assert(shown("i <> 5") === Seq("0[-, 5!]", "0[5!, -]"))
    assert(shown("i <=> 5") === Seq("0[5, 5]"))
    assert(shown("st.x > 1 + 1") === Seq("8[2!, -]"))
  }

  test("NULL, booleans, lists and prefixes become ranges") {
    assert(shown("i IS NULL") === Seq("0NULL"))
    assert(shown("i <=> NULL") === Seq("0NULL"))
    assert(shown("i IS NOT NULL") === Seq("0[-, -]"))
    assert(shown("i = NULL") === Nil)
    assert(shown("b") === Seq("6[true, true]"))
    assert(shown("NOT b") === Seq("6[false, false]"))
    assert(shown("i IN (9, 1, NULL)") === Seq("0[1, 1]", "0[9, 9]"))
    val many = (1 to 20).mkString(", ")
    assert(shown(s"i IN ($many)").size === 20)
    assert(shown("i NOT IN (9, 1)") === Seq("0[-, 1!]", "0[1!, 9!]", "0[9!, -]"))
    assert(shown("i NOT IN (9, NULL)") === Nil)
    assert(shown(s"i IN (${(1 to 2000).mkString(", ")})") === Seq("0[1, 2000]"))
    assert(shown("s LIKE 'ab%'") === Seq("2[ab, ac!]"))
    assert(shown("startswith(s, 'ab')") === Seq("2[ab, ac!]"))
  }

  test("AND cuts boxes, OR adds them, NOT goes into both") {
    assert(shown("i > 3 AND i <= 7") === Seq("0[3!, 7]"))
    assert(shown("i > 7 AND i < 7") === Nil)
    assert(shown("i >= 7 AND i <= 7") === Seq("0[7, 7]"))
    assert(shown("i IS NULL AND i = 1") === Nil)
    assert(shown("(i = 1 OR i = 2) AND (l = 3 OR l = 4)") ===
      Seq("0[1, 1] 1[3, 3]", "0[1, 1] 1[4, 4]", "0[2, 2] 1[3, 3]", "0[2, 2] 1[4, 4]"))
    assert(shown("NOT (i > 3 AND l < 2)") === Seq("0[-, 3]", "1[2, -]"))
  }

  test("too many boxes become the box around the longer side") {
    val list = (1 to 40).map(_ * 2).mkString(", ")
    val boxes = shown(s"i IN ($list) AND l IN ($list)")
    assert(boxes.size === 40)
    assert(boxes.head === "0[2, 80] 1[2, 2]")
  }

  test("unsupported parts count as true and are reported; other columns don't matter") {
    assert(read("i = 1 AND other = 2") === read("i = 1"))
    assert(read("i = 1 AND other = 2").ignored === Nil)
    val some = read("i = 1 AND l % 2 = 0")
    assert(shown("i = 1 AND l % 2 = 0") === Seq("0[1, 1]"))
    assert(some.ignored.size === 1 && some.ignored.head.contains("%"))
    assert(read("i = 1 OR l % 2 = 0").isAnything)
    assert(read("i = 1 OR other = 2").isAnything)
    assert(read("true").isAnything)
    assert(read("false").boxes === Nil)
    assert(shown("s LIKE '%b'") === Seq(""))
    assert(read("i = l").isAnything)
  }

  test("constants take the column's type") {
    assert(shown("i = 5L") === Seq("0[5, 5]"))
    assert(shown("i > 2.5") === Seq("0[2!, -]"))
    assert(shown("d = '1970-01-11'") === Seq("3[10, 10]"))
    assert(shown("d >= date '1970-01-11' - interval 1 day") === Seq("3[9, -]"))
    assert(shown("n < 5") === Seq("5[-, 5.00!]"))
    assert(shown("t <= timestamp '1970-01-01 00:00:01 UTC'") === Seq("4[-, 1000000]"))
    assert(shown("f > 1") === Seq("7[1.0!, -]"))
    assert(read("d > current_date() - 3").boxes.head.keySet === Set(3))
  }

  test("rows that satisfy a predicate are in its boxes, compared with Spark's filter") {
    val session = classicSession
    val random = new scala.util.Random(7)
    def value(least: Int): Any = if (random.nextInt(6) == 0) null else least + random.nextInt(8)
    val rows = Seq.fill(400)(Row(value(0), value(0)))
    val data = session.createDataFrame(
      session.sparkContext.parallelize(rows, 2),
      StructType.fromDDL("i INT, l INT"))
    val order = ValueOrdering.of(IntegerType)
    def atom(): String = {
      val (c, v) = (if (random.nextBoolean()) "i" else "l", random.nextInt(9))
      random.nextInt(9) match {
        case 0 => s"$c = $v"
        case 1 => s"$c > $v"
        case 2 => s"$v >= $c"
        case 3 => s"$c IS NULL"
        case 4 => s"$c IN ($v, ${v + 3})"
        case 5 => s"$c <> $v"
        case 6 => s"$c BETWEEN $v AND ${v + 2}"
        case 7 => s"$c <=> $v"
        case _ => s"$c IS NOT NULL"
      }
    }
    def predicate(depth: Int): String =
      if (depth == 0) atom()
      else {
        val not = if (random.nextInt(4) == 0) "NOT " else ""
        val op = if (random.nextBoolean()) "AND" else "OR"
        s"$not(${predicate(depth - 1)} $op ${predicate(depth - 1)})"
      }
    def allows(range: ValueRange, v: Any): Boolean =
      if (v == null) range.nulls
      else range.values.exists { i =>
        val point = Interval.of(v)
        i.and(point, order).isDefined
      }
    val texts = Seq.fill(40)(predicate(1 + random.nextInt(3)))
    texts.foreach { text =>
      val boxes = new PredicateReader(Seq(Seq("i"), Seq("l"))).read(session.withActive {
        val analyzed = data.where(text).queryExecution.analyzed
        val condition = analyzed.collectFirst { case Filter(c, _) => c }.get
        SimplifiedCondition.of(condition, analyzed.output)
      }).boxes
      val expected = data.where(text).collect().toSeq
      val found = rows.filter(row =>
        boxes.exists(_.forall { case (c, range) => allows(range, row.get(c)) }))
      // Exact, because boxes can represent everything here.
      val key = (row: Row) => row.toSeq.map(v => Option(v).fold("")(_.toString)).mkString(",")
      assert(found.map(key).sorted === expected.map(key).sorted, text)
    }
  }
}
