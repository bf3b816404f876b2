package io.zcube.clustering.run

import java.util.concurrent.TimeUnit.NANOSECONDS

/** Measures durations. */
private[run] object Timed {

  /** The result of `body`, and its milliseconds. */
  def ms[T](body: => T): (T, Long) = {
    val start = System.nanoTime()
    val result = body
    (result, NANOSECONDS.toMillis(System.nanoTime() - start))
  }
}
