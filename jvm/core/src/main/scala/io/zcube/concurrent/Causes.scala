package io.zcube.concurrent

import java.io.InterruptedIOException
import java.nio.channels.ClosedByInterruptException
import java.util.{Collections, IdentityHashMap}

import scala.collection.mutable
import scala.util.control.NonFatal

/** The causes of a failure. */
object Causes {

  /** A failure, what caused it, and so on. Causes may form a cycle, so there are at most 100. */
  def of(failure: Throwable): Seq[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(MaxCauses).toSeq

  /** The same, and what else failed meanwhile: of stages that fail together, Spark makes one the cause
    * of the failure, and suppresses the others.
    */
  def withSuppressed(failure: Throwable): Seq[Throwable] = {
    // Exceptions that are equal may have other causes.
    val known = Collections.newSetFromMap(new IdentityHashMap[Throwable, java.lang.Boolean])
    val found = Seq.newBuilder[Throwable]
    val left = mutable.Queue(failure)
    while (left.nonEmpty && known.size < MaxCauses) {
      val next = left.dequeue()
      if (next != null && known.add(next)) {
        found += next
        left ++= next.getCause +: next.getSuppressed
      }
    }
    found.result()
  }

  /** Whether it says that its thread was interrupted. Subclasses of `InterruptedIOException`, such as
    * `SocketTimeoutException` and those of HTTP clients, are timeouts. OkHttp and Okio throw the class
    * itself for timeouts too, with these messages.
    */
  def isInterruption(e: Throwable): Boolean = e match {
    case _: InterruptedException | _: ClosedByInterruptException => true
    case io: InterruptedIOException =>
      io.getClass == classOf[InterruptedIOException] && !Timeouts.contains(io.getMessage)
    case _ => false
  }

  /** Whether a failure, or what caused it, must end the run: an interruption, or a fatal error. */
  def endsRun(failure: Throwable): Boolean =
    of(failure).exists(e => isInterruption(e) || !NonFatal(e))

  /** What a failure says, in one line; its class if it says nothing. */
  def firstLine(e: Throwable): String =
    Option(e.getMessage).getOrElse(e.getClass.getSimpleName).linesIterator.map(_.trim)
      .find(_.nonEmpty).getOrElse(e.getClass.getSimpleName)

  private val Timeouts = Set("timeout", "deadline reached")

  private val MaxCauses = 100
}
