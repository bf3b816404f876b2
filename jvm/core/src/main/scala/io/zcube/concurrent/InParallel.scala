package io.zcube.concurrent

import java.util.stream.IntStream

/** Work on all processors of the driver. A table has a few columns and perhaps a million files, so the
  * columns are worked on side by side.
  */
object InParallel {

  /** As `of.map(f)`; each call may come from another thread. */
  def map[A, T](of: IndexedSeq[A])(f: A => T): IndexedSeq[T] =
    IntStream
      .range(0, of.length)
      .parallel()
      .mapToObj[AnyRef](i => f(of(i)).asInstanceOf[AnyRef])
      .toArray
      .toIndexedSeq
      .asInstanceOf[IndexedSeq[T]]
}
