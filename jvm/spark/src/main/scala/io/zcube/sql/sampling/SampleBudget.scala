package io.zcube.sql.sampling

import java.util.concurrent.Semaphore

/** The bytes that all samples of a run may take on the driver at any time. Whoever samples takes what
  * its sample may need before it begins, or waits, and gives it back when the layout is made and the
  * sample is forgotten.
  *
  * How large a sample may be never depends on who is first, so that the same table gives the same
  * layout: only when it is drawn does.
  *
  * @param bytes    the least is what one sample may take
  * @param awakened called when waiting is over; it may throw
  */
final class SampleBudget(
    bytes: Long = SampleBudget.MostBytes,
    awakened: () => Unit = () => ()) {
  import SampleBudget._

  private val pages = pagesOf(bytes)
  // Fair: a large sample is not put off for ever by small ones.
  private val free = new Semaphore(pages, true)

  /** @param wanted bytes of a sample that nothing outlives `body` of; more than there are is all */
  def within[T](wanted: Long)(body: => T): T = {
    val taken = math.min(pages, pagesOf(wanted))
    free.acquire(taken)
    try {
      awakened()
      body
    } finally free.release(taken)
  }
}

object SampleBudget {

  /** Two of the largest samples, or ten of the usual ones. */
  val MostBytes: Long = 2 * SampleLimits.MostBytes

  /** A semaphore counts in `Int`s. */
  private val Page = 1024L

  private def pagesOf(bytes: Long): Int =
    math.min(Int.MaxValue.toLong, (bytes + Page - 1) / Page).toInt
}
