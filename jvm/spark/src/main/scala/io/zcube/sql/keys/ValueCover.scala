package io.zcube.sql.keys

import scala.collection.mutable

import org.apache.spark.sql.types.DataType

import io.zcube.cover.{BoxCover, RankBox}
import io.zcube.sql.values.ValueOrdering

/** Covers boxes of values by a few boxes that touch as few files of a table as possible
  * ([[BoxCover]]).
  *
  * @param types of the dimensions
  * @param files the files' ranges, or a sample of them
  */
final class ValueCover(val types: IndexedSeq[DataType], files: Array[ValueBox])
    extends Serializable {

  @transient private lazy val orderings: IndexedSeq[Ordering[Any]] =
    types.map(ValueOrdering.ofStatistics)

  def fileCount: Int = files.length

  /** At most this many boxes that together hold all of these. */
  def reduce(boxes: Array[ValueBox], most: Int): Array[ValueBox] =
    if (boxes.length <= most) boxes
    else {
      val ranks = new Ranks(boxes)
      BoxCover.of(boxes.map(ranks.ofKeys), ranks.files, most).map(ranks.values)
    }

  /** How many of the files a box touches. */
  def met(boxes: Array[ValueBox]): Int = {
    val ranks = new Ranks(boxes)
    BoxCover.met(boxes.map(ranks.ofKeys), ranks.files)
  }

  /** See [[BoxCover.overlap]]. */
  def overlap: Double = BoxCover.overlap(new Ranks(Array.empty).files)

  def contains(box: ValueBox, key: Array[Any]): Boolean = {
    var d = 0
    while (d < types.length && !isBelow(d, key(d), box.low(d)) && !isBelow(d, box.high(d), key(d)))
      d += 1
    d == types.length
  }

  private def isBelow(d: Int, a: Any, b: Any): Boolean =
    b != null && (a == null || orderings(d).lt(a, b))

  /** The ranks of the boxes' and the files' values, in the order of each dimension. */
  final private class Ranks(boxes: Array[ValueBox]) {

    private val sorted: IndexedSeq[Array[AnyRef]] = types.indices.map { d =>
      val all = new mutable.ArrayBuffer[AnyRef]
      for (boxes <- Seq(boxes, ValueCover.this.files); box <- boxes;
        bounds <- Seq(box.low, box.high))
        if (bounds(d) != null) all += bounds(d).asInstanceOf[AnyRef]
      val values = all.toArray
      java.util.Arrays.sort(values, orderings(d).asInstanceOf[Ordering[AnyRef]])
      var kept = 0
      for (value <- values)
        if (kept == 0 || orderings(d).lt(values(kept - 1), value)) {
          values(kept) = value
          kept += 1
        }
      values.take(kept)
    }

    private def rank(d: Int, value: Any): Int = 1 + java.util.Arrays.binarySearch(
      sorted(d),
      value.asInstanceOf[AnyRef],
      orderings(d).asInstanceOf[Ordering[AnyRef]])

    /** NULL has rank 0. */
    def ofKeys(box: ValueBox): RankBox = {
      def ranks(bounds: Array[Any]) =
        Array.tabulate(types.length)(d => if (bounds(d) == null) 0 else rank(d, bounds(d)))
      new RankBox(ranks(box.low), ranks(box.high))
    }

    def values(box: RankBox): ValueBox = {
      def of(ranks: Array[Int]) =
        Array.tabulate[Any](types.length)(d => if (ranks(d) == 0) null else sorted(d)(ranks(d) - 1))
      new ValueBox(of(box.low), of(box.high))
    }

    lazy val files: Array[RankBox] = ValueCover.this.files.map { file =>
      def ranks(bounds: Array[Any], unknown: Int => Int) = Array.tabulate(types.length) { d =>
        if (bounds(d) == null) unknown(d) else rank(d, bounds(d))
      }
      new RankBox(ranks(file.low, _ => 0), ranks(file.high, sorted(_).length))
    }
  }
}
