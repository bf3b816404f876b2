package io.zcube.concurrent

import java.util.stream.IntStream

/** Uses all processors of the driver. A table has a few columns and perhaps a million files, so
  * columns are processed in parallel.
  */
object InParallel {

  /** Like `of.map(f)`, but calls may run in different threads. */
  def map[A, T](of: IndexedSeq[A])(f: A => T): IndexedSeq[T] =
    IntStream
      .range(0, of.length)
      .parallel()
      .mapToObj[AnyRef](i => f(of(i)).asInstanceOf[AnyRef])
      .toArray
      .toIndexedSeq
      .asInstanceOf[IndexedSeq[T]]
}
