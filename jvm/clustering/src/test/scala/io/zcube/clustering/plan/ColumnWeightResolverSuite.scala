package io.zcube.clustering.plan

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.analysis.{caseInsensitiveResolution, caseSensitiveResolution}
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.table.ColumnPath

class ColumnWeightResolverSuite extends AnyFunSuite {

  private val columns = Seq(Seq("day"), Seq("point", "x"), Seq("point.x"))
    .map(parts => ColumnPath(parts, parts, IntegerType))

  private def resolve(named: (Seq[String], Double)*): Seq[Double] =
    ColumnWeightResolver(named, columns, caseInsensitiveResolution)

  private def refused(body: => Any): (String, String) = {
    val error = intercept[Exception](body)
    error.asInstanceOf[SparkThrowable].getCondition -> error.getMessage
  }

  test("weights are in the order of the columns, relative to the largest") {
    assert(resolve(Seq("point", "x") -> 4.0, Seq("day") -> 2.0) === Seq(0.5, 1.0, 0.25))
    assert(resolve(Seq("DAY") -> 0.5) === Seq(0.5, 1.0, 1.0))
  }

  test("a field and a column whose name has a dot are different columns") {
    assert(resolve(Seq("point.x") -> 2.0) === Seq(0.5, 0.5, 1.0))
    assert(resolve(Seq("Point", "X") -> 2.0) === Seq(0.5, 1.0, 0.5))
  }

  test("equal weights are none") {
    assert(resolve() === Nil)
    assert(resolve(Seq("day") -> 1.0) === Nil)
    assert(resolve(columns.map(_.logical -> 7.0): _*) === Nil)
  }

  test("a name that is no clustering column is refused, and the known ones are named") {
    Seq(Seq("dya"), Seq("point"), Seq("point", "x", "y")).foreach { name =>
      val (condition, message) = refused(resolve(name -> 2.0))
      assert(condition === "ZCUBE_UNKNOWN_WEIGHT")
      assert(message.contains(name.mkString(".")) && message.contains("`point.x`"))
    }
    assert(refused(ColumnWeightResolver(
      Seq(Seq("DAY") -> 2.0),
      columns,
      caseSensitiveResolution))._1 === "ZCUBE_UNKNOWN_WEIGHT")
  }

  test("two names of one column are refused") {
    val (condition, message) = refused(resolve(Seq("day") -> 2.0, Seq("Day") -> 3.0))
    assert(condition === "ZCUBE_INVALID_OPTION")
    assert(message.contains("day, Day"))
  }
}
