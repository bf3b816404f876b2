package io.zcube.concurrent

import scala.util.{Failure, Success, Try}

/** `Try` for every throwable, including fatal errors and interrupts, after which callers must clean
  * up.
  */
object Caught {
  def apply[T](body: => T): Try[T] =
    try Success(body)
    catch { case e: Throwable => Failure(e) }
}
