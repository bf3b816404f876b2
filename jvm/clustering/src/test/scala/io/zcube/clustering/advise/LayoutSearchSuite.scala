package io.zcube.clustering.advise

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.kinds.LayoutKind
import io.zcube.layout.kinds.LayoutKind.{Hilbert, KdTree, Linear, ZOrder}

/** Tests only the search, in invented settings where each layout's reads are known. */
class LayoutSearchSuite extends AnyFunSuite {

  private val tried = mutable.ArrayBuffer.empty[LayoutCandidate]

  /** Ranked layouts, where `bytes` says what a layout reads. */
  private def search(columns: Int, frequency: Map[Int, Double] = Map.empty)(
      bytes: LayoutCandidate => Double): Seq[LayoutCandidate] = {
    tried.clear()
    val all = (0 until columns).map(c => c -> frequency.getOrElse(c, 1.0)).toMap
    val found = new LayoutSearch(
      0 until columns,
      all,
      candidate => {
        tried += candidate
        LayoutCost(candidate, 10, 1, bytes(candidate), Nil)
      }).run()
    assert(tried.distinct.size == tried.size, "tried twice")
    assert(found.map(_.candidate).toSet == tried.toSet)
    // Except the first, which may have fewer columns than one that reads slightly less.
    assert(found.tail.map(_.bytesRead) == found.tail.map(_.bytesRead).sorted)
    found.map(_.candidate)
  }

  /** Each column of a set divides what is read; a curve reads more than the tree. */
  private def divided(by: Int => Double)(candidate: LayoutCandidate): Double =
    1e9 / candidate.columns.map(by).product * costOf(candidate.curve)

  private def costOf(curve: LayoutKind): Double = curve match {
    case KdTree => 1.0
    case Hilbert => 1.2
    case ZOrder => 1.3
    case Linear => 2.0
  }

  test("columns are added while they save something") {
    val saves = Map(0 -> 1.0, 1 -> 4.0, 2 -> 1.001, 3 -> 2.0)
    val best = search(4)(divided(saves)).head
    assert(best.columns.toSet == Set(1, 3) && best.curve == KdTree)
  }

  test("of two columns that save nearly the same, the layout uses one") {
    val best = search(2)(divided(Map(0 -> 3.0, 1 -> 1.005))).head
    assert(best == LayoutCandidate(Seq(0), KdTree))
    // A saving of two hundredths justifies a column.
    assert(search(2)(divided(Map(0 -> 3.0, 1 -> 1.02))).head.columns.toSet == Set(0, 1))
  }

  test("a column that saves almost nothing is tried, but not extended") {
    search(4)(divided(Map(0 -> 3.0, 1 -> 2.0, 2 -> 1.005, 3 -> 1.005)))
    val largest = tried.filter(_.columns.size > 2)
    assert(largest.nonEmpty && largest.forall(_.columns.size == 3))
    assert(largest.forall(c => c.curve == KdTree && c.weights.isEmpty))
  }

  test("no more than four columns") {
    val best = search(6)(divided(c => 2.0 + c)).head
    assert(best.columns.toSet == Set(2, 3, 4, 5))
    assert(tried.map(_.columns.size).max == 4)
  }

  test("a pair is found even if neither column is the best alone") {
    // Column 0 is best alone; 1 and 2 are best together, and no others save anything.
    val best = search(3) { candidate =>
      val reads = candidate.columns.toSet match {
        case set if set == Set(0) => 50.0
        case set if set == Set(1) => 60.0
        case set if set == Set(1, 2) => 10.0
        case set if set.size == 1 => 90.0
        case _ => 50.0
      }
      reads * costOf(candidate.curve)
    }.head
    assert(best.columns.toSet == Set(1, 2))
  }

  test("the best sets are tried with each curve, and each column first in a sort") {
    search(3)(divided(c => 2.0 + c))
    val whole = tried.filter(_.columns.size == 3)
    assert(whole.map(_.curve).toSet == Set(KdTree, Hilbert, ZOrder, Linear))
    assert(whole.filter(_.curve == Linear).map(_.columns.head).toSet == Set(0, 1, 2))
    // A single column is the same with any curve.
    assert(tried.filter(_.columns.size == 1).forall(_.curve == KdTree))
  }

  test("a sort wins where it reads least, by the right column first") {
    val best = search(3) { candidate =>
      divided(c => 2.0 + c)(candidate) *
        (if (candidate.curve == Linear && candidate.columns.head == 1) 0.1 else 1)
    }.head
    assert(best.curve == Linear && best.columns.head == 1)
  }

  test("weights follow how often queries filter by the columns, from 1 to 4 times") {
    search(3, Map(0 -> 100.0, 1 -> 50.0, 2 -> 1.0))(divided(c => 2.0 + c))
    val weighted = tried.filter(_.weights.nonEmpty).filter(_.columns.size == 3)
    assert(weighted.nonEmpty && weighted.forall(_.curve == KdTree))
    weighted.foreach { candidate =>
      // Relative to the largest: 4, 2 and 1 for the columns 0, 1 and 2.
      val expected = Map(0 -> 1.0, 1 -> 0.5, 2 -> 0.25)
      assert(candidate.weights == candidate.columns.map(expected))
    }
    search(3)(divided(c => 2.0 + c))
    assert(tried.forall(_.weights.isEmpty), "columns queried equally often have no weights")
  }
}
