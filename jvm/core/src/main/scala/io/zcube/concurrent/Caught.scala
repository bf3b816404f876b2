package io.zcube.concurrent

import scala.util.{Failure, Success, Try}

/** `Try` of whatever is thrown: fatal errors and interrupts too, which are to be cleaned up after. */
object Caught {
  def apply[T](body: => T): Try[T] =
    try Success(body)
    catch { case e: Throwable => Failure(e) }
}
