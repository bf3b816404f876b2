package org.apache.spark.sql.delta.zcube

import java.util.concurrent.{CountDownLatch, TimeUnit}

/** Spark interrupts the tasks of a failed job; this lets them continue. */
private[zcube] object Uninterrupted {

  def await(latch: CountDownLatch): Unit = {
    def opens() = latch.await(30, TimeUnit.SECONDS)
    val opened =
      try opens()
      catch { case _: InterruptedException => opens() }
    assert(opened)
  }
}
