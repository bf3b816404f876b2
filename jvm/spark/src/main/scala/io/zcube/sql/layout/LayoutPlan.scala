package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}
import org.apache.spark.sql.types.IntegerType

import io.zcube.layout.{BucketedSample, CutPoints, CutRules, FileBoxes, Layout, RankScale, Resolution}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.expressions.{ClusteringKey, FileOfKey}
import io.zcube.sql.sampling.{RowSample, SampleLimits}
import io.zcube.sql.values.TypedRangeBounds

/** A layout computed from a sample: the key of each row, and the cuts between files.
  *
  * @param bounds for each column, the bounds between its buckets
  * @param layout from buckets to keys
  * @param cuts   from keys to files
  * @param files from values directly to files, if the layout supports it
  */
final case class LayoutPlan(
    bounds: Seq[TypedRangeBounds],
    layout: Layout,
    cuts: CutPoints,
    files: Option[LayoutPlan.Boxes] = None) {

  /** The key of a row with these values in its clustering columns. */
  def key(columns: Seq[Expression]): ClusteringKey = ClusteringKey(columns, bounds, layout)

  /** The file number of a row with these values in its clustering columns; no key may be split. */
  def file(columns: Seq[Expression]): Expression = files match {
    case Some(boxes) => Cast(ClusteringKey(columns, boxes.bounds, boxes.numbers), IntegerType)
    case None => FileOfKey(key(columns), Literal(0L), cuts)
  }

  /** The file that each sampled row would be written to. */
  def filesOf(sample: RowSample): Array[Int] = {
    val ranks = Array.tabulate(layout.dimensions)(layout.ranks)
    val point = new Array[Int](layout.dimensions)
    sample.rows.zipWithIndex.map { case (row, place) =>
      point.indices.foreach { column =>
        point(column) =
          if (row.isNullAt(column)) Layout.NullRank
          else ranks(column)(bounds(column).idOf(row.get(column, sample.dataTypes(column))))
      }
      cuts.fileOf(layout.keyOf(point), cuts.turn(place))
    }
  }
}

object LayoutPlan {

  /** Boxes that are files.
    *
    * @param bounds  for each column, the few bounds at which boxes end
    * @param numbers from positions among these bounds to files
    */
  final case class Boxes(bounds: Seq[TypedRangeBounds], numbers: FileBoxes)

  /** Plans a layout of `files` files, or of fewer if the sample has all rows and shows that no file
    * exceeds its limit. The writer splits a file that exceeds it, which leaves a tiny file.
    *
    * @param minFiles number of files that hold all rows if each is full
    */
  def within(
      sample: RowSample,
      minFiles: Int,
      files: Int,
      request: LayoutRequest): LayoutPlan = {
    val maxRecords = request.maxRecords
    def fits(plan: LayoutPlan): Boolean = !plan.cuts.splitsKeys &&
      plan.filesOf(sample).groupMapReduce(identity)(_ => 1L)(_ + _).values.forall(_ <= maxRecords)
    if (maxRecords <= 0 || !sample.complete) of(sample, files, request)
    else {
      val plans = for {
        count <- LazyList.from((minFiles until files).take(Tries) :+ files)
        // Even files may split keys that fit, and other files be larger than even ones.
        isEven = isNear(maxRecords, count.toLong, sample.rowCount)
        limit <- if (isEven) Seq(0L, maxRecords) else Seq(maxRecords)
      } yield of(sample, count, request.copy(maxRecords = limit))
      plans.find(fits).getOrElse(plans.last)
    }
  }

  private val Tries = 3

  /** Whether a limit of rows is so near to the mean of `files` files that they must be even. */
  private def isNear(maxRecords: Long, files: Long, rows: Long): Boolean =
    maxRecords > 0 && maxRecords.toDouble * files < Room * rows

  /** A limit of rows this many times above the mean file is no reason for even files. */
  private val Room = 1.25

  /** The number of rows to sample for a layout of that many files. */
  def limits(files: Int, rowsPerFile: Int): SampleLimits =
    SampleLimits.ofRows(math.min(MaxRows, math.max(MinRows, files.toLong * rowsPerFile)).toInt)

  private val MinRows = 100000L
  private val MaxRows = 1000000L

  /** Plans a layout of `files` files.
    *
    * @param sample a sample of the clustering columns, in their order
    * @param parts number of tables that share the layout, with that many files each; the ranks are
    *   as fine as for all their files together
    */
  def of(
      sample: RowSample,
      files: Int,
      request: LayoutRequest,
      parts: Int = 1): LayoutPlan = {
    val dimensions = sample.dataTypes.length
    if (dimensions > Resolution.MaxColumns) {
      throw ZCubeErrors.tooManyColumns(dimensions, Resolution.MaxColumns)
    }
    val bits = request.curve.bits(dimensions, files * parts, request.ranks)
    val scale = Resolution.scale(bits, request.ranks)
    val (columns, scales) = sample.dataTypes.indices.map { column =>
      val values = SampledColumn.of(sample, column)
      (values, RankScale.of(values.counts, values.nullCount, scale))
    }.unzip
    val boundIndices = scales.map(_.boundIndices)
    val bounds = columns.zip(boundIndices).map { case (values, at) => values.boundsAt(at) }
    val buckets = bounds.zip(sample.dataTypes).zipWithIndex.map {
      case ((bound, dataType), column) =>
        sample.rows.map { row =>
          if (row.isNullAt(column)) BucketedSample.NullBucket
          else bound.idOf(row.get(column, dataType))
        }
    }
    val laidOut = request.curve.layOut(
      new BucketedSample(scales.toArray, buckets.toArray),
      files,
      bits,
      CutRules(
        request.splitsValues,
        isTight = isNear(request.maxRecords, files.toLong * parts, sample.rowCount)),
      request.weights,
      RankedWorkload.of(request.workload, columns.zip(boundIndices))
    )
    val boxes = laidOut.files.map { numbers =>
      val few = columns.indices.map { c =>
        columns(c).boundsAt(numbers.bounds(c).map(boundIndices(c)(_)))
      }
      Boxes(few, numbers)
    }
    LayoutPlan(bounds, laidOut.layout, laidOut.cuts, boxes)
  }
}
