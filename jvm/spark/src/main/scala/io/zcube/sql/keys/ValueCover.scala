package io.zcube.sql.keys

import scala.collection.mutable

import org.apache.spark.sql.types.DataType

import io.zcube.cover.{BoxCover, RankBox}
import io.zcube.sql.keys.ValueBox.Unbounded
import io.zcube.sql.values.ValueOrdering

/** Covers boxes of values by a few boxes that touch as few files of a table as possible
  * ([[BoxCover]]).
  *
  * @param types of the dimensions
  * @param files the files' ranges, or a sample of them
  */
final class ValueCover(val types: IndexedSeq[DataType], files: Array[ValueBox])
    extends Serializable {
  import ValueCover._

  @transient private lazy val orderings: IndexedSeq[Ordering[Any]] =
    types.map(ValueOrdering.ofStatistics)

  def fileCount: Int = files.length

  /** At most this many boxes that together hold all of these. */
  def reduce(boxes: Array[ValueBox], maxBoxes: Int): Array[ValueBox] =
    if (boxes.length <= maxBoxes) boxes
    else {
      val ranks = new Ranks(boxes)
      BoxCover.of(boxes.map(ranks.ofKeys), ranks.files, maxBoxes).map(ranks.values)
    }

  /** How many of the files a box touches. */
  def touched(boxes: Array[ValueBox]): Int = {
    val ranks = new Ranks(boxes)
    BoxCover.touched(boxes.map(ranks.ofKeys), ranks.files)
  }

  /** See [[BoxCover.overlap]]. */
  def overlap: Double = BoxCover.overlap(new Ranks(Array.empty).files)

  /** The place of a box among the files' bounds: boxes with the same numbers touch the same files, and
    * so does a box around them.
    */
  def cellOf(box: ValueBox): Array[Int] = {
    val cell = new Array[Int](2 * types.length)
    var d = 0
    while (d < types.length) {
      cell(2 * d) = placeOf(d, box.low(d))
      cell(2 * d + 1) = if (box.high(d) == box.low(d)) cell(2 * d) else placeOf(d, box.high(d))
      d += 1
    }
    cell
  }

  /** An odd number at a bound, an even one between two. */
  private def placeOf(d: Int, value: Any): Int =
    if (value == null) PlaceOfNull
    else if (value == Unbounded) PlaceOfUnbounded
    else {
      val found = java.util.Arrays.binarySearch(
        fileBounds(d),
        value.asInstanceOf[AnyRef],
        orderings(d).asInstanceOf[Ordering[AnyRef]])
      if (found >= 0) 2 * found + 1 else 2 * (-found - 1)
    }

  @transient private lazy val fileBounds: IndexedSeq[Array[AnyRef]] =
    types.indices.map(d => distinctValues(d, files))

  /** The smallest box that holds both. */
  def around(a: ValueBox, b: ValueBox): ValueBox = {
    def of(one: Array[Any], other: Array[Any], below: Boolean) = Array.tabulate[Any](types.length) {
      d => if (isAtMost(d, one(d), other(d), below) == below) one(d) else other(d)
    }
    new ValueBox(of(a.low, b.low, below = true), of(a.high, b.high, below = false))
  }

  def contains(box: ValueBox, key: ValueBox): Boolean = {
    var d = 0
    while (d < types.length && holds(d, box, key)) d += 1
    d == types.length
  }

  private def holds(d: Int, box: ValueBox, key: ValueBox): Boolean =
    isAtMost(d, box.low(d), key.low(d), below = true) &&
      isAtMost(d, key.high(d), box.high(d), below = false)

  /** @param below whether the bounds are lower ones */
  private[keys] def isAtMost(d: Int, a: Any, b: Any, below: Boolean): Boolean =
    if (a == null) true
    else if (b == null) false
    else if (a == Unbounded) below || b == Unbounded
    else if (b == Unbounded) !below
    else orderings(d).lteq(a, b)

  /** The bounds in a dimension, in order. */
  private def distinctValues(d: Int, from: Array[ValueBox]*): Array[AnyRef] = {
    val all = new mutable.ArrayBuffer[AnyRef]
    for (boxes <- from; box <- boxes; bounds <- Seq(box.low, box.high))
      if (bounds(d) != null && bounds(d) != Unbounded) all += bounds(d).asInstanceOf[AnyRef]
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

  /** The ranks of the boxes' and the files' values, in the order of each dimension. */
  final private class Ranks(boxes: Array[ValueBox]) {

    private val sorted: IndexedSeq[Array[AnyRef]] =
      types.indices.map(d => distinctValues(d, boxes, ValueCover.this.files))

    private def rank(d: Int, value: Any): Int = FirstValue + java.util.Arrays.binarySearch(
      sorted(d),
      value.asInstanceOf[AnyRef],
      orderings(d).asInstanceOf[Ordering[AnyRef]])

    private def top(d: Int): Int = FirstValue + sorted(d).length

    def ofKeys(box: ValueBox): RankBox = {
      def ranks(bounds: Array[Any], unbounded: Int => Int) =
        Array.tabulate(types.length) { d =>
          if (bounds(d) == null) OfNull
          else if (bounds(d) == Unbounded) unbounded(d)
          else rank(d, bounds(d))
        }
      new RankBox(ranks(box.low, _ => AboveNull), ranks(box.high, top))
    }

    def values(box: RankBox): ValueBox = {
      def of(ranks: Array[Int]) = Array.tabulate[Any](types.length) { d =>
        if (ranks(d) == OfNull) null
        else if (ranks(d) == AboveNull || ranks(d) == top(d)) Unbounded
        else sorted(d)(ranks(d) - FirstValue)
      }
      new ValueBox(of(box.low), of(box.high))
    }

    lazy val files: Array[RankBox] = ValueCover.this.files.map { file =>
      def ranks(bounds: Array[Any], unknown: Int => Int) = Array.tabulate(types.length) { d =>
        if (bounds(d) == null) unknown(d) else rank(d, bounds(d))
      }
      new RankBox(ranks(file.low, _ => OfNull), ranks(file.high, top))
    }
  }
}

object ValueCover {

  /** The ranks of NULL, of a missing lower bound, and of the least value. */
  private val OfNull = 0
  private val AboveNull = 1
  private val FirstValue = 2

  private val PlaceOfNull = -1
  private val PlaceOfUnbounded = -2
}
