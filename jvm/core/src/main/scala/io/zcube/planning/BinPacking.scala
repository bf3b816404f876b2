package io.zcube.planning

/** Divides items that are too large for one job or one commit. */
object BinPacking {

  /** Keeps the given order. A bin is full before it would exceed `capacity`, or when it has its
    * even share of the total, so that the last bin isn't tiny. An item above `capacity` gets its
    * own bin.
    *
    * Example: weights 4, 4, 4 and 4 with a capacity of 10 make two bins of two.
    */
  def pack[T](items: Seq[T], capacity: Long)(weight: T => Long): Seq[Seq[T]] = {
    val total = items.iterator.map(weight).sum
    val even = total / math.max(1.0, math.ceil(total.toDouble / capacity))
    val bins = Seq.newBuilder[Seq[T]]
    var bin = Vector.empty[T]
    var filled = 0L
    items.foreach { item =>
      if (bin.nonEmpty && (filled + weight(item) > capacity || filled >= even)) {
        bins += bin
        bin = Vector.empty
        filled = 0L
      }
      bin :+= item
      filled += weight(item)
    }
    if (bin.nonEmpty) bins += bin
    bins.result()
  }
}
