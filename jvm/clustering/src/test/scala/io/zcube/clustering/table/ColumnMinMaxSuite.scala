package io.zcube.clustering.table

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.quality.LayoutQuality

class ColumnMinMaxSuite extends AnyFunSuite {

  /** A file's minimum, maximum, number of NULLs and number of rows. */
  private def minMax(dataType: DataType)(files: (Any, Any, Any, Any)*): ColumnMinMax =
    ColumnMinMax.of(
      files.map { case (low, high, nulls, rows) => InternalRow(low, high, nulls, rows) }.toArray,
      dataType,
      low = 0,
      high = 1,
      nulls = 2,
      count = 3)

  /** Types by whose number a column is compared, and others, with a value for each small number. */
  private val types: Seq[(DataType, Int => Any)] = Seq(
    LongType -> (_.toLong),
    DateType -> (i => i),
    DoubleType -> (_ / 2.0),
    DecimalType(10, 2) -> (i => Decimal(BigDecimal(i), 10, 2)),
    DecimalType(38, 2) -> (i => Decimal(BigDecimal(i), 38, 2)),
    StringType -> (i => UTF8String.fromString(f"${i + 500}%04d")),
    // Statistics have the order of bytes, whatever the collation: Z is before a.
    StringType("UTF8_LCASE") -> (i =>
      UTF8String.fromString(f"${if (i < 0) "Z" else "a"}${i + 500}%04d"))
  )

  for ((dataType, value) <- types) {
    test(s"${dataType.sql}: files are counted by what their statistics lack") {
      val found = minMax(dataType)(
        (value(1), value(5), 0L, 10L),
        (value(3), value(3), 2L, 10L),
        (null, null, 10L, 10L), // Only NULLs.
        (null, null, 0L, 0L), // No rows.
        (null, null, 9L, 10L),
        (null, null, null, 10L),
        (null, null, 10L, null),
        (null, value(4), 0L, 10L),
        (value(1), null, 0L, 10L),
        (value(5), value(1), 0L, 10L),
        // A count that contradicts the others: no file may be skipped that they say to read.
        (value(2), value(4), 10L, 10L)
      )
      assert(found.onlyNulls === 2)
      assert(found.noMinimum === 4)
      assert(found.noMaximum === 1)
      assert(found.inverted === 1)
      assert((0 until 11).filter(found.ranges.isKnown) === Seq(0, 1, 10))
      assert((0 until 11).filter(found.ranges.isConstant) === Seq(1))
    }

    test(s"${dataType.sql}: ranges overlap as the values do") {
      val random = new Random(7)
      // Small numbers, which are often equal; negative ones too.
      val ends = Seq.fill(40)(Seq.fill(2)(random.nextInt(60) - 30).sorted)
      val found = minMax(dataType)(ends.map { of =>
        (value(of.head), value(of.last), 0L, 10L)
      }: _*)
      val overlaps = ends.map { of =>
        ends.count(other => other.head <= of.last && of.head <= other.last) - 1
      }
      val depths = ends.map { of =>
        val among = ends.filter(other => other.head <= of.last && of.head <= other.last)
        (of.head to of.last).map(at => among.count(a => a.head <= at && at <= a.last)).max
      }
      val quality = LayoutQuality.ofColumn(found.ranges)
      assert(quality.averageOverlaps === Some(overlaps.sum / 40.0))
      assert(quality.maximumDepth === Some(depths.max))
      assert(quality.averageDepth === Some(depths.sum / 40.0))
    }
  }
}
