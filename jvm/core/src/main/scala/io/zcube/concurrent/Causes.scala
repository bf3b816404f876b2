package io.zcube.concurrent

import scala.collection.mutable

object Causes {

  /** A failure, what caused it, and so on. Causes may form a cycle, so there are at most 100. */
  def of(failure: Throwable): Seq[Throwable] =
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(Most).toSeq

  /** The same, and what else failed meanwhile: of stages that fail together, Spark makes one the cause
    * of the failure, and suppresses the others.
    */
  def withSuppressed(failure: Throwable): Seq[Throwable] = {
    val found = mutable.LinkedHashSet.empty[Throwable]
    val left = mutable.Queue(failure)
    while (left.nonEmpty && found.size < Most) {
      val next = left.dequeue()
      if (next != null && found.add(next)) left ++= next.getCause +: next.getSuppressed
    }
    found.toSeq
  }

  private val Most = 100
}
