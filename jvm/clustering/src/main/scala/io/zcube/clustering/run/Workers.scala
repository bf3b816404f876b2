package io.zcube.clustering.run

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, ExecutorService, Executors, TimeUnit}

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import org.apache.spark.internal.Logging

import io.zcube.concurrent.Caught

/** Does several things at a time, and sees the end of each, whatever is thrown. A future of Scala's
  * never completes after a fatal error.
  *
  * @param name     of its threads
  * @param most     how many things at a time
  * @param onCancel called when the caller was interrupted, and again until the work is over
  */
final class Workers(name: String, most: Int, onCancel: () => Unit = () => ())
    extends Logging {
  import Workers._

  /** What became of each item, when all of them are over. An interrupt of the caller interrupts what
    * runs, drops what has not begun, and is passed on when all of it is over.
    */
  def map[A, B](items: Seq[A])(work: A => B): Seq[Try[B]] = {
    val ends = Array.fill[Try[B]](items.size)(Failure(new InterruptedException("not begun")))
    val open = new CountDownLatch(items.size)
    val pool = poolOf(math.max(1, math.min(most, items.size)))
    val interrupted =
      try {
        items.zipWithIndex.foreach { case (item, i) =>
          val job: Runnable = () =>
            try ends(i) = Caught(work(item))
            finally open.countDown()
          // There may be no room for a thread.
          Caught(pool.execute(job)).failed.foreach { e =>
            ends(i) = Failure(e)
            open.countDown()
          }
        }
        awaitEnd(pool, open, interrupted = false)
      } finally pool.shutdown()
    if (interrupted) throw new InterruptedException(s"$name was interrupted")
    ends.toSeq
  }

  private def poolOf(threads: Int): ExecutorService = {
    val numbers = new AtomicInteger()
    Executors.newFixedThreadPool(
      threads,
      work => {
        val thread = new Thread(work, s"$name-${numbers.getAndIncrement()}")
        thread.setDaemon(true)
        thread
      })
  }

  /** Whether there was an interrupt. */
  @tailrec
  private def awaitEnd(pool: ExecutorService, open: CountDownLatch, interrupted: Boolean): Boolean =
    Caught(open.await(PollMs, TimeUnit.MILLISECONDS)) match {
      case Success(true) => interrupted
      case Success(false) =>
        // A thread that is between two jobs has none to cancel, so again and again.
        if (interrupted) cancel()
        awaitEnd(pool, open, interrupted)
      case Failure(_) =>
        cancel()
        pool.shutdownNow().forEach(_ => open.countDown())
        awaitEnd(pool, open, interrupted = true)
    }

  /** What runs comes to its end without it too. */
  private def cancel(): Unit =
    try onCancel()
    catch { case NonFatal(e) => logWarning(s"$name: its Spark jobs could not be cancelled", e) }
}

object Workers {
  private val PollMs = 1000L
}
