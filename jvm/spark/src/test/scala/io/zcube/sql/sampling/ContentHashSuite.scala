package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types._
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

/** Samples of columns whose types Spark doesn't know, or can't hash. */
class ContentHashSuite extends AnyFunSuite with SamplingSession {
  import ContentHashSuite._

  /** Points of a type that users define, alone or as a field. */
  private def points(tasks: Int): DataFrame = {
    val rows = spark.sparkContext.range(0, 20000, 1, tasks)
      .map(id => Row(new Point(id.toDouble, -id.toDouble)))
    spark.createDataFrame(rows, new StructType().add("p", new PointType))
  }

  for (column <- Seq("p", "struct(1 AS a, p) AS p", "array(p) AS p"))
    test(s"a sample of points doesn't depend on the tasks: $column") {
      val samples = Seq(1, 3).map { tasks =>
        sampled(points(tasks).selectExpr(column), 5000).rows.toSeq.map(_.copy())
      }
      assert(samples.head.size == 5000)
      assert(samples.head.toSet.size == 5000)
      assert(samples.head == samples.last)
    }

  test("a row with a value that has no hash is sampled by chance, wherever it is in its task") {
    val tasks = 20
    val rows = spark.range(0, 20000, 1, tasks).selectExpr("parse_json(string(id)) v")
    val found = sampled(rows, 5000).rows.toSeq.map(_.getVariant(0).toString.toLong)
    assert(found.size == 5000 && found.distinct.size == 5000)
    // Of the first rows of all tasks, a quarter is expected.
    val first = found.count(_ % (20000 / tasks) == 0)
    assert(first >= 1 && first <= 15)
  }
}

object ContentHashSuite {

  // Spark 4.0 finds the type of an object only so.
  @SQLUserDefinedType(udt = classOf[PointType])
  class Point(val x: Double, val y: Double) extends Serializable

  class PointType extends UserDefinedType[Point] {
    override def sqlType: DataType = new StructType().add("x", DoubleType).add("y", DoubleType)
    override def serialize(point: Point): InternalRow =
      new GenericInternalRow(Array[Any](point.x, point.y))
    override def deserialize(stored: Any): Point = {
      val row = stored.asInstanceOf[InternalRow]
      new Point(row.getDouble(0), row.getDouble(1))
    }
    override def userClass: Class[Point] = classOf[Point]
  }
}
