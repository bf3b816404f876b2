package io.zcube.sql.keys

/** Finds out whether one of many boxes holds a key.
  *
  * Boxes are sorted by their lower bounds in the first dimension. Those that may hold a key end at
  * the last one that begins at or below it; and they begin where no earlier one reaches up to it. If
  * boxes don't overlap in that dimension, there is one at most.
  */
final private[keys] class BoxIndex(boxes: Array[ValueBox], cover: ValueCover) {

  private val sorted = boxes.sorted(Ordering.fromLessThan[ValueBox] { (a, b) =>
    !cover.isAtMost(0, b.low(0), a.low(0), below = true)
  })
  // By box, the greatest upper bound up to there.
  private val reach: Array[Any] = sorted.map(_.high(0)).scanLeft[Any](null) { (most, high) =>
    if (cover.isAtMost(0, most, high, below = false)) high else most
  }.tail

  def holds(key: ValueBox): Boolean = {
    var i = lastFrom(key.low(0))
    def isReached = i >= 0 && cover.isAtMost(0, key.high(0), reach(i), below = false)
    while (isReached && !cover.contains(sorted(i), key)) i -= 1
    isReached
  }

  /** The last box whose lower bound is at most this one; -1 if there is none. */
  private def lastFrom(low: Any): Int = {
    var from = 0
    var until = sorted.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (cover.isAtMost(0, sorted(middle).low(0), low, below = true)) from = middle + 1
      else until = middle
    }
    from - 1
  }
}
