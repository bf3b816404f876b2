package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}

import io.zcube.layout.{CurveLayout, CutPoints, RankScale, Resolution}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.expressions.ClusteringKey

/** A layout worked out from a sample: the key of each row, and the cuts between files.
  *
  * @param bounds for each column, the bounds between its buckets
  * @param layout from buckets to keys
  * @param cuts   from keys to files
  */
final case class LayoutPlan(bounds: Seq[TypedRangeBounds], layout: CurveLayout, cuts: CutPoints) {

  /** The key of a row with these values in its clustering columns. */
  def key(columns: Seq[Expression]): ClusteringKey = ClusteringKey(columns, bounds, layout)
}

object LayoutPlan {

  /** Sampled rows wanted for a layout of that many files. */
  def limits(files: Int, rowsPerFile: Int): SampleLimits =
    SampleLimits.ofRows(math.min(MostRows, math.max(LeastRows, files.toLong * rowsPerFile)).toInt)

  private val LeastRows = 100000L
  private val MostRows = 1000000L

  /** Plans a layout of `files` files.
    *
    * @param sample a sample of the clustering columns, in their order
    */
  def of(sample: RowSample, files: Int, request: LayoutRequest): LayoutPlan = {
    val dimensions = sample.dataTypes.length
    if (dimensions > Resolution.MostColumns) {
      throw ZCubeErrors.tooManyColumns(dimensions, Resolution.MostColumns)
    }
    val bits = Resolution.bits(dimensions, files, request.ranges)
    val scale = Resolution.scale(bits, request.ranges)
    val (bounds, scales) = sample.dataTypes.zipWithIndex.map { case (dataType, column) =>
      val values = SampledColumn(dataType, sample.rows.toIndexedSeq, column)
      val ranks = RankScale.of(values.counts, values.nullCount, scale)
      (values.boundsAt(ranks.boundIndices), ranks)
    }.unzip
    val layout = new CurveLayout(request.curve.curve(dimensions, bits), scales.toArray)
    val key = ClusteringKey(
      sample.dataTypes.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) },
      bounds,
      layout)
    val keys = sample.rows.map((row: InternalRow) => key.eval(row).asInstanceOf[Long])
    LayoutPlan(bounds, layout, CutPoints.of(keys, files, request.spread))
  }
}
