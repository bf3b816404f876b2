package io.zcube.sql.sampling

import java.util.concurrent.Semaphore

/** Limits the bytes of all of a run's samples on the driver. Before sampling, a group acquires the
  * bytes that its sample may need, or waits. It releases them when the layout is made and the
  * sample is dropped.
  *
  * The size of a sample never depends on which group is first, only its timing does, so the same
  * table gives the same layout.
  *
  * @param bytes    at least the bytes of one sample
  * @param awakened called when waiting is over; it may throw
  */
class SampleBudget(
    bytes: Long = SampleBudget.MaxBytes,
    awakened: () => Unit = () => ()) {
  import SampleBudget._

  private val pages = pagesOf(bytes)
  // Fair, so that small samples can't delay a large one forever.
  private val free = new Semaphore(pages, true)

  /** @param wanted maximum bytes of the sample; capped at the whole budget
    * @param use    its result must not reference the sample
    */
  def sampled[T](wanted: Long)(draw: => RowSample)(use: RowSample => T): T =
    within(wanted)(use(draw))

  final private[sampling] def within[T](wanted: Long)(body: => T): T = {
    val taken = math.min(pages, pagesOf(wanted))
    free.acquire(taken)
    try {
      awakened()
      body
    } finally free.release(taken)
  }
}

object SampleBudget {

  /** Two of the largest samples, or ten usual ones. */
  val MaxBytes: Long = 2 * SampleLimits.MaxBytes

  /** A semaphore's permits are `Int`s. */
  private val Page = 1024L

  private def pagesOf(bytes: Long): Int =
    math.min(Int.MaxValue.toLong, (bytes + Page - 1) / Page).toInt
}
