// In Delta's package: its kernels are private to it.
package org.apache.spark.sql.delta.expressions.zcube

import java.util.concurrent.TimeUnit

import scala.util.Random

import org.openjdk.jmh.annotations._

import org.apache.spark.sql.delta.expressions.{HilbertLongIndex, InterleaveBits}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.IntegerType

import io.zcube.curve.{BitInterleaver, HilbertCurve}

/**
 * One row's Z-order or Hilbert key: ZCube's kernels and Delta 4.4.0's, on the same 1024 rows.
 *
 * Delta's kernels can only be reached by evaluating its expressions on a row, as its queries do too,
 * having no generated code. ZCube's expressions are measured the same way (`zcubeExpression…`), and
 * its kernels alone, which is what its generated code calls (`zcubeKernel…`).
 */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(1024)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(1)
class KernelBenchmark {

  /** columns x bits */
  @Param(Array("2x10", "3x10", "4x16"))
  var shape: String = _

  private var points: Array[Array[Int]] = _
  private var rows: Array[InternalRow] = _
  private var curve: HilbertCurve = _
  private var deltaHilbert: Expression = _
  private var zcubeHilbert: Expression = _
  private var deltaInterleave: Expression = _
  private var deltaFastInterleave: Expression = _
  private var zcubeInterleave: Expression = _

  @Setup def setUp(): Unit = {
    val Array(columns, bits) = shape.split("x").map(_.toInt)
    val random = new Random(42)
    points = Array.fill(1024)(Array.fill(columns)(random.nextInt(1 << bits)))
    rows = points.map(p => new GenericInternalRow(p.map(v => v: Any)): InternalRow)
    // 4 x 16 is 64 bits: one more than a long key has. Delta's long key takes 4 x 15.
    val hilbertBits = math.min(bits, 63 / columns)
    points.foreach(p => p.indices.foreach(i => p(i) &= (1 << hilbertBits) - 1))
    curve = HilbertCurve(columns, hilbertBits)
    val references = (0 until columns).map(BoundReference(_, IntegerType, nullable = true))
    deltaHilbert = HilbertLongIndex(hilbertBits, references)
    zcubeHilbert = io.zcube.sql.expressions.HilbertIndex(
      org.apache.spark.sql.catalyst.expressions.Literal(hilbertBits) +: references)
    rows = points.map(p => new GenericInternalRow(p.map(v => v: Any)): InternalRow)
    deltaInterleave = InterleaveBits(references)
    val fast = new SQLConf
    fast.setConfString("spark.databricks.delta.optimize.zorder.fastInterleaveBits.enabled", "true")
    deltaFastInterleave = SQLConf.withExistingConf(fast)(InterleaveBits(references))
    zcubeInterleave = io.zcube.sql.expressions.InterleaveBits(references)
  }

  private def evaluated(expression: Expression): Int = {
    var sum = 0
    var i = 0
    while (i < rows.length) {
      sum += expression.eval(rows(i)).hashCode
      i += 1
    }
    sum
  }

  @Benchmark def hilbertDelta(): Int = evaluated(deltaHilbert)
  @Benchmark def hilbertZcubeExpression(): Int = evaluated(zcubeHilbert)
  @Benchmark def hilbertZcubeKernel(): Long = {
    var sum = 0L
    var i = 0
    while (i < points.length) {
      sum += curve.index(points(i))
      i += 1
    }
    sum
  }

  @Benchmark def interleaveDelta(): Int = evaluated(deltaInterleave)
  @Benchmark def interleaveDeltaFast(): Int = evaluated(deltaFastInterleave)
  @Benchmark def interleaveZcubeExpression(): Int = evaluated(zcubeInterleave)
  @Benchmark def interleaveZcubeKernel(): Int = {
    var sum = 0
    var i = 0
    while (i < points.length) {
      sum += BitInterleaver.interleave(points(i))(0)
      i += 1
    }
    sum
  }
}
