package io.zcube.clustering.run

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, ExecutorService, Executors, TimeUnit}

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import org.apache.spark.internal.Logging

import io.zcube.concurrent.Caught

/** Runs several actions at a time, and waits for the end of each, whatever they throw. A Scala
  * future never completes after a fatal error.
  *
  * @param name     name of its threads
  * @param maxThreads maximum number of concurrent actions
  * @param onCancel called when the caller is interrupted, and repeatedly until the work is over
  * @param isCancelled whether an item has cancelled the others; `onCancel` is then called repeatedly, too
  */
final class Workers(
    name: String,
    maxThreads: Int,
    onCancel: () => Unit = () => (),
    isCancelled: () => Boolean = () => false)
    extends Logging {
  import Workers._

  /** The outcome of each item, once all are finished. An interrupt of the caller interrupts running
    * items, drops those that haven't started, and is propagated when all are finished. Its suppressed
    * exceptions are the failures of the items that had started, since these may say more than that
    * they were interrupted.
    */
  def map[A, B](items: Seq[A])(work: A => B): Seq[Try[B]] = {
    val notBegun = Failure(new InterruptedException("not begun"))
    val ends = Array.fill[Try[B]](items.size)(notBegun)
    val open = new CountDownLatch(items.size)
    val pool = poolOf(math.max(1, math.min(maxThreads, items.size)))
    val interrupted =
      try {
        items.zipWithIndex.foreach { case (item, i) =>
          val job: Runnable = () =>
            try ends(i) = Caught(work(item))
            finally open.countDown()
          // Starting a thread may fail for lack of memory.
          Caught(pool.execute(job)).failed.foreach { e =>
            ends(i) = Failure(e)
            open.countDown()
          }
        }
        awaitEnd(pool, open, interrupted = false)
      } finally pool.shutdown()
    if (interrupted) {
      val interrupt = new InterruptedException(s"$name was interrupted")
      ends.filter(_ ne notBegun).foreach(_.failed.foreach(interrupt.addSuppressed))
      throw interrupt
    }
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

  /** Whether the caller was interrupted. */
  @tailrec
  private def awaitEnd(pool: ExecutorService, open: CountDownLatch, interrupted: Boolean): Boolean =
    Caught(open.await(PollMs, TimeUnit.MILLISECONDS)) match {
      case Success(true) => interrupted
      case Success(false) =>
        // A thread between two jobs has none to cancel, so this is repeated.
        if (interrupted || isCancelled()) cancel()
        awaitEnd(pool, open, interrupted)
      case Failure(_) =>
        cancel()
        pool.shutdownNow().forEach(_ => open.countDown())
        awaitEnd(pool, open, interrupted = true)
    }

  /** Running work finishes even if this fails. */
  private def cancel(): Unit =
    try onCancel()
    catch { case NonFatal(e) => logWarning(s"$name: its Spark jobs could not be cancelled", e) }
}

object Workers {
  private val PollMs = 1000L
}
