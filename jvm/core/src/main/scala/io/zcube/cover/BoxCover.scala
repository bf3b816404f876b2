package io.zcube.cover

import java.util.BitSet

import scala.collection.mutable

/** Covers many boxes, most of them points, by a few boxes that touch as few files as possible.
  *
  * Starts with the bounding box of all items and splits repeatedly, each time where that saves the
  * most files; if no split saves any yet, where the boxes become smallest. Splits that saved
  * nothing in the end are undone. In one dimension, for files that don't overlap, no other choice
  * of as many boxes saves more.
  *
  * Example: the points 1, 2 and 90, files 0..9, 10..49, 50..99, two boxes: 1..2 and 90..90, which
  * save the second file.
  */
object BoxCover {

  /** @param items the boxes to cover, at least one, all with the same number of dimensions
    * @param files the ranges of the files, or of a uniform sample of them; without any, boxes
    *   become small
    * @param maxBoxes  maximum number of boxes, at least one
    * @return boxes that together hold every item
    */
  def of(items: Array[RankBox], files: Array[RankBox], maxBoxes: Int): Array[RankBox] = {
    val all = items.distinct
    if (all.length <= maxBoxes) all
    else {
      val root = new Group(all, files.indices.toArray, files)
      val open = mutable.PriorityQueue(root)(Ordering.by((g: Group) => (g.gain, g.saved)))
      var count = 1
      while (count < maxBoxes && open.nonEmpty) {
        val (one, other) = open.dequeue().split()
        open ++= Seq(one, other).filter(_.canSplit)
        count += 1
      }
      root.result(files.nonEmpty)._1
    }
  }

  /** The number of files that touch a box. */
  def touched(boxes: Array[RankBox], files: Array[RankBox]): Int =
    files.count(file => boxes.exists(_.touches(file)))

  /** The average share of the files that a key in the middle of a file touches: near 1 if the files
    * aren't laid out by these columns.
    */
  def overlap(files: Array[RankBox]): Double =
    if (files.isEmpty) 1.0
    else {
      val step = math.max(1, files.length / Probes)
      val probes = files.indices.by(step).map { i =>
        val middle = files(i).low.indices.map { d =>
          ((files(i).low(d).toLong + files(i).high(d)) / 2).toInt
        }.toArray
        new RankBox(middle, middle)
      }
      probes.map(probe => files.count(_.touches(probe))).sum.toDouble / probes.size / files.length
    }

  private val Probes = 64

  /** Gaps that are evaluated in each dimension. */
  private val Candidates = 8

  /** Items with one box, and the parts that they were split into.
    *
    * @param candidates indexes in `files` of those that may touch the box
    */
  final private class Group(items: Array[RankBox], candidates: Array[Int], files: Array[RankBox]) {

    private val box = RankBox.around(items, 0, items.length)
    private val touched = candidates.filter(i => files(i).touches(box))
    private var parts: Option[(Group, Group)] = None

    private lazy val best: Option[Cut] =
      if (items.length < 2) None
      else box.low.indices.flatMap(cutsOf).maxByOption(cut => (cut.gain, cut.saved))

    def canSplit: Boolean = best.isDefined

    /** Files that are saved by splitting it. */
    def gain: Int = best.fold(0)(_.gain)

    /** How much smaller it becomes by splitting. */
    def saved: Double = best.fold(0.0)(_.saved)

    def split(): (Group, Group) = {
      val (one, other) = best.get.sorted.splitAt(best.get.at)
      val both = (new Group(one, touched, files), new Group(other, touched, files))
      parts = Some(both)
      both
    }

    /** The boxes of its parts, and the number of files that they touch. */
    def result(joins: Boolean): (Array[RankBox], BitSet) = parts match {
      case None =>
        val ofFiles = new BitSet()
        touched.foreach(i => ofFiles.set(i))
        (Array(box), ofFiles)
      case Some((one, other)) =>
        val (boxes, ofFiles) = one.result(joins)
        val (more, moreFiles) = other.result(joins)
        ofFiles.or(moreFiles)
        if (joins && ofFiles.cardinality == touched.length) (Array(box), ofFiles)
        else (boxes ++ more, ofFiles)
    }

    private def cutsOf(d: Int): Seq[Cut] = {
      val sorted = items.sortBy(_.low(d))
      val middle = sorted.length / 2
      (gaps(sorted, d) :+ middle).distinct.map { at =>
        val one = RankBox.around(sorted, 0, at)
        val other = RankBox.around(sorted, at, sorted.length)
        val spared = touched.count(i => !files(i).touches(one) && !files(i).touches(other))
        new Cut(sorted, at, spared, volume(box) - volume(one) - volume(other))
      }
    }

    /** The positions of the gaps that hold the most files; among equals, the widest first. */
    private def gaps(sorted: Array[RankBox], d: Int): Seq[Int] = {
      val ends = new mutable.ArrayBuilder.ofInt
      val starts = new mutable.ArrayBuilder.ofInt
      val places = new mutable.ArrayBuilder.ofInt
      var end = sorted(0).high(d)
      for (i <- 1 until sorted.length) {
        if (sorted(i).low(d) > end) {
          ends += end
          starts += sorted(i).low(d)
          places += i
        }
        end = math.max(end, sorted(i).high(d))
      }
      val (below, above) = (ends.result(), starts.result())
      val within = new Array[Int](below.length)
      touched.foreach { i =>
        // The last gap that begins below the file.
        val found = java.util.Arrays.binarySearch(below, files(i).low(d))
        val gap = if (found >= 0) found - 1 else -found - 2
        if (gap >= 0 && files(i).high(d) < above(gap)) within(gap) += 1
      }
      val at = places.result()
      val order = Ordering.by((gap: Int) => (within(gap), above(gap) - below(gap))).reverse
      below.indices.sorted(order).take(Candidates).map(at(_))
    }
  }

  /** @param sorted items; the first `at` go to one side
    * @param gain   files that neither side touches
    */
  final private class Cut(val sorted: Array[RankBox], val at: Int, val gain: Int, val saved: Double)

  private def volume(box: RankBox): Double =
    box.low.indices.foldLeft(1.0)((v, d) => v * (box.high(d).toDouble - box.low(d) + 1))
}
