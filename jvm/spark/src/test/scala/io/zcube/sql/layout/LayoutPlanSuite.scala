package io.zcube.sql.layout

import scala.util.Random

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, ExpressionEvalHelper, GenericInternalRow, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.expressions.FileOfKey
import io.zcube.sql.sampling.RowSample

class LayoutPlanSuite extends SparkFunSuite with ExpressionEvalHelper {
  private val types = Seq(DateType, StringType, DoubleType)

  /** One row in 40, less than a file, has no first value; the texts have a long prefix in common, the
    * doubles many ties.
    */
  private def rows(seed: Int, count: Int): Array[InternalRow] = {
    val random = new Random(seed)
    Array.fill(count) {
      val date = if (random.nextInt(40) == 0) null else random.nextInt(2000)
      val text = UTF8String.fromString(f"Customer#${random.nextInt(5000)}%09d")
      new GenericInternalRow(Array[Any](date, text, random.nextInt(20) / 4.0))
    }
  }

  private def inputs(columns: Int) =
    types.take(columns).zipWithIndex.map { case (dataType, i) =>
      BoundReference(i, dataType, nullable = true)
    }

  /** Interpreted and generated, as by `checkEvaluation`, which compiles the expression for each row.
    */
  private def check(expression: Expression, rows: Seq[InternalRow])(
      expected: InternalRow => Any): Unit = {
    rows.take(2).foreach(row => checkEvaluation(expression, expected(row), row))
    val generated = GenerateUnsafeProjection.generate(Seq(expression))
    rows.foreach { row =>
      val wanted = expected(row)
      assert(expression.eval(row) === wanted, row)
      assert(generated(row).get(0, expression.dataType) === wanted, row)
    }
  }

  // With 500 ranges a bucket has several values; without a number each value has its own.
  for {
    columns <- 2 to 3
    files <- Seq(1, 5, 24)
    ranges <- Seq(None, Some(500))
  }
    test(
      s"kdtree of $columns columns, $files files, ranges $ranges: a row's file is that of its key") {
      val sampled = RowSample(types.take(columns), rows(1, 3000), 3000L, complete = true)
      val plan = LayoutPlan.of(sampled, files, LayoutRequest(LayoutKind.KdTree, ranks = ranges))
      assert(plan.files.isDefined)
      assert(plan.files.get.bounds.map(_.length).sum < files)
      val byKey = FileOfKey(plan.key(inputs(columns)), Literal(0L), plan.cuts)
      // Others than were sampled, some between sampled values and some beyond all.
      check(plan.file(inputs(columns)), rows(2, 300).toSeq)(byKey.eval)
    }

  for (files <- Seq(1, 5, 24); ranges <- Seq(None, Some(500)))
    test(s"kdtree of one column, $files files, ranges $ranges: as linear") {
      val sampled = RowSample(types.take(1), rows(1, 3000), 3000L, complete = true)
      def plan(kind: LayoutKind) =
        LayoutPlan.of(sampled, files, LayoutRequest(kind, ranks = ranges))
      val linear = plan(LayoutKind.Linear)
      val tree = plan(LayoutKind.KdTree)
      assert(tree.cuts.cuts === linear.cuts.cuts)
      val others = rows(2, 100).toSeq
      check(tree.key(inputs(1)), others)(linear.key(inputs(1)).eval)
      check(tree.file(inputs(1)), others)(linear.file(inputs(1)).eval)
    }

  test("a limit of rows makes files even if it is near their mean, and only then") {
    val random = new Random(5)
    val mostlyNull: Array[InternalRow] = Array.fill(20000)(new GenericInternalRow(
      Array.fill[Any](5)(if (random.nextDouble() < 0.1) random.nextInt() else null)))
    val sampled = RowSample(Seq.fill(5)(IntegerType), mostlyNull, 200000L, complete = false)
    def files(maxRecords: Long): Seq[Int] =
      LayoutPlan.of(sampled, 5, LayoutRequest(LayoutKind.KdTree, maxRecords = maxRecords))
        .filesOf(sampled).toSeq
    def filesWithBoth(files: Seq[Int]): Int = files.zip(mostlyNull)
      .map { case (file, row) => file -> row.toSeq(sampled.dataTypes).forall(_ == null) }
      .distinct.groupBy(_._1).count(_._2.size > 1)
    // A file of the mean size has 40,000 rows.
    assert(filesWithBoth(files(0)) === 0)
    val isAsWithoutLimit = files(60000) == files(0)
    assert(isAsWithoutLimit)
    assert(filesWithBoth(files(44000)) === 1)
    assert(files(44000).groupBy(identity).values.forall(_.size <= 1.09 * 4000))
  }

  test(
    "values that just fit under the limit of rows stay whole, in as few files as hold all rows") {
    val counts = Seq(1070, 1196, 1134)
    // With the second limit, no fewer files would do.
    for {
      (kind, columns) <- Seq(LayoutKind.Linear -> 1, LayoutKind.KdTree -> 2)
      (files, maxRecords) <- Seq(4 -> 1200L, 3 -> 1300L)
    } {
      val values = counts.zipWithIndex.flatMap { case (n, value) => Seq.fill(n)(value) }
      val sampled = sampleOf(values, columns)
      val plan =
        LayoutPlan.within(
          sampled,
          minFiles = 3,
          files,
          LayoutRequest(kind, maxRecords = maxRecords))
      assert(plan.filesOf(sampled).groupBy(identity).values.map(_.length).toSet === counts.toSet)
    }
  }

  test("files are even where others would exceed the limit of rows") {
    val sampled = sampleOf(0 until 57000, columns = 1)
    val request = LayoutRequest(LayoutKind.Linear, maxRecords = 1030)
    val plan = LayoutPlan.within(sampled, minFiles = 56, files = 62, request)
    val sizes = plan.filesOf(sampled).groupBy(identity).values.map(_.length)
    assert(sizes.size === 56)
    assert(sizes.max <= 1030)
    val without = LayoutPlan.of(sampled, 56, request.copy(maxRecords = 0))
    assert(without.filesOf(sampled).groupBy(identity).values.map(_.length).max > 1030)
  }

  /** A sample of all rows, with the same value in each column. */
  private def sampleOf(values: Seq[Int], columns: Int): RowSample = {
    val rows: Array[InternalRow] =
      values.map(value => new GenericInternalRow(Array.fill[Any](columns)(value))).toArray
    RowSample(Seq.fill(columns)(IntegerType), rows, rows.length.toLong, complete = true)
  }
}
