package io.zcube.layout.kinds

import io.zcube.layout.{BucketedSample, RankScale}

/** A column of numbers that sort like the values.
  *
  * @param values of each row; [[TestColumn.Null]] for NULL
  * @param seen a value as recorded in a file's statistics: the first characters of a long string,
  *   nothing for a boolean
  */
final case class TestColumn(values: Array[Long], seen: Long => Long = identity) {
  import TestColumn.Null

  /** Whether it has statistics. */
  def isTold: Boolean = seen(known.head) != seen(known.last) || known.head == known.last

  /** The values without NULL, in their order. */
  lazy val known: Array[Long] = values.filter(_ != Null).sorted

  /** The column's scale of `ranks` ranks, and each row's bucket on it. */
  def bucketed(ranks: Int): (RankScale, Array[Int]) = {
    val distinct = known.distinct
    val counts = new Array[Long](distinct.length)
    val index = values.map(value =>
      if (value == Null) -1 else java.util.Arrays.binarySearch(distinct, value))
    index.foreach(i => if (i >= 0) counts(i) += 1)
    val scale = RankScale.of(counts, values.count(_ == Null).toLong, ranks)
    val bucketOf = new Array[Int](distinct.length)
    var bucket = 0
    distinct.indices.foreach { i =>
      bucketOf(i) = bucket
      if (bucket < scale.boundIndices.length && scale.boundIndices(bucket) == i) bucket += 1
    }
    (scale, index.map(i => if (i < 0) BucketedSample.NullBucket else bucketOf(i)))
  }
}

object TestColumn {
  val Null: Long = Long.MinValue

  def sample(columns: Seq[TestColumn], ranks: Int): BucketedSample = {
    val (scales, buckets) = columns.map(_.bucketed(ranks)).unzip
    new BucketedSample(scales.toArray, buckets.toArray)
  }
}
