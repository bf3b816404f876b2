package io.zcube.concurrent

/** Cleaning up after an interrupt, which must not itself be cut short by that interrupt. */
object DeferredInterrupt {

  /** Runs `body` as if the thread had not been interrupted yet; a further interrupt ends it. */
  def within[T](body: => T): T = {
    val interrupted = Thread.interrupted()
    try body
    finally if (interrupted) Thread.currentThread().interrupt()
  }
}
