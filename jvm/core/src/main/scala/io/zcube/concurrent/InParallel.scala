package io.zcube.concurrent

import java.util.stream.IntStream

/** Uses all processors of the driver. A table has a few columns and perhaps a million files, so
  * columns are processed in parallel.
  */
object InParallel {

  /** Like `items.map(f)`, but calls may run in different threads. */
  def map[A, T](items: IndexedSeq[A])(f: A => T): IndexedSeq[T] =
    IntStream
      .range(0, items.length)
      .parallel()
      .mapToObj[AnyRef](i => f(items(i)).asInstanceOf[AnyRef])
      .toArray
      .toIndexedSeq
      .asInstanceOf[IndexedSeq[T]]
}
