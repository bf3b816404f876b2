package io.zcube.concurrent

/** Cleans up after an interrupt, without being cut short by it. */
object DeferredInterrupt {

  /** Runs `body` as if the thread had not been interrupted yet; a further interrupt ends it. */
  def within[T](body: => T): T = {
    val interrupted = Thread.interrupted()
    try body
    finally if (interrupted) Thread.currentThread().interrupt()
  }
}
