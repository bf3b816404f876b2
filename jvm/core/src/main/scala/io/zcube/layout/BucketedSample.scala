package io.zcube.layout

/** Sampled rows, with values represented by their buckets.
  *
  * @param scales  for each column, its buckets and their ranks
  * @param buckets for each column, the bucket of each row; [[BucketedSample.NullBucket]] for NULL
  */
final class BucketedSample(val scales: Array[RankScale], val buckets: Array[Array[Int]]) {
  require(scales.length == buckets.length, "as many columns of buckets as of scales")

  def dimensions: Int = scales.length

  /** Number of sampled rows. */
  def size: Int = buckets.headOption.fold(0)(_.length)

  /** For each column, the number of each row's bucket, from the least value's, after
    * [[Layout.NullRank]] for NULL.
    */
  def points: Array[Array[Int]] =
    buckets.map(_.map(_ - BucketedSample.NullBucket + Layout.NullRank))

  /** The key of each row under `layout`. */
  def keys(layout: Layout): Array[Long] = {
    val ranks = Array.tabulate(dimensions)(layout.ranks)
    val point = new Array[Int](dimensions)
    Array.tabulate(size) { row =>
      var c = 0
      while (c < point.length) {
        val bucket = buckets(c)(row)
        point(c) = if (bucket == BucketedSample.NullBucket) Layout.NullRank else ranks(c)(bucket)
        c += 1
      }
      layout.keyOf(point)
    }
  }
}

object BucketedSample {
  val NullBucket: Int = -1
}
