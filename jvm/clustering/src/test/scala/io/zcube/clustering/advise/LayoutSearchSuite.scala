package io.zcube.clustering.advise

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.kinds.LayoutKind
import io.zcube.layout.kinds.LayoutKind.{Hilbert, KdTree, Linear, ZOrder}

/** The search alone, in made-up worlds where what each layout reads is known. */
class LayoutSearchSuite extends AnyFunSuite {

  private val tried = mutable.ArrayBuffer.empty[LayoutCandidate]

  /** Ranked layouts, where a layout reads what `bytes` says of it. */
  private def search(columns: Int, asked: Map[Int, Double] = Map.empty)(
      bytes: LayoutCandidate => Double): Seq[LayoutCandidate] = {
    tried.clear()
    val all = (0 until columns).map(c => c -> asked.getOrElse(c, 1.0)).toMap
    val found = new LayoutSearch(
      0 until columns,
      all,
      candidate => {
        tried += candidate
        LayoutCost(candidate, 10, 1, bytes(candidate), Nil)
      }).run()
    assert(tried.distinct.size == tried.size, "tried twice")
    assert(found.map(_.candidate).toSet == tried.toSet)
    // But for the first, which may have fewer columns than one that reads a little less.
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

  test("of two columns that read nearly the same, the layout has one") {
    val best = search(2)(divided(Map(0 -> 3.0, 1 -> 1.005))).head
    assert(best == LayoutCandidate(Seq(0), KdTree))
    // Two hundredths are worth a column.
    assert(search(2)(divided(Map(0 -> 3.0, 1 -> 1.02))).head.columns.toSet == Set(0, 1))
  }

  test("what saves next to nothing is looked at, and built on no further") {
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

  test("a pair is found though the better of its columns alone is second") {
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
    // One column is one column, by whatever curve.
    assert(tried.filter(_.columns.size == 1).forall(_.curve == KdTree))
  }

  test("a sort wins where it reads least, by the right column first") {
    val best = search(3) { candidate =>
      divided(c => 2.0 + c)(candidate) *
        (if (candidate.curve == Linear && candidate.columns.head == 1) 0.1 else 1)
    }.head
    assert(best.curve == Linear && best.columns.head == 1)
  }

  test("weights go as queries ask for the columns, from 1 to 4 times") {
    search(3, Map(0 -> 100.0, 1 -> 50.0, 2 -> 1.0))(divided(c => 2.0 + c))
    val weighted = tried.filter(_.weights.nonEmpty).filter(_.columns.size == 3)
    assert(weighted.nonEmpty && weighted.forall(_.curve == KdTree))
    weighted.foreach { candidate =>
      // As multiples of the greatest: 4, 2 and 1 for the columns 0, 1 and 2.
      val expected = Map(0 -> 1.0, 1 -> 0.5, 2 -> 0.25)
      assert(candidate.weights == candidate.columns.map(expected))
    }
    search(3)(divided(c => 2.0 + c))
    assert(tried.forall(_.weights.isEmpty), "columns that are asked for alike have no weights")
  }
}
