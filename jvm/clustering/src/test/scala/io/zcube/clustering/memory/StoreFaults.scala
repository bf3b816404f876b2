package io.zcube.clustering.memory

import java.io.{IOException, InterruptedIOException}
import java.nio.file.FileAlreadyExistsException

import scala.collection.mutable

/** Makes one operation of a store fail: the k-th after arming. */
final class StoreFaults {
  import StoreFaults._

  private var armed: Option[(Int, Kind)] = None
  private val done = mutable.ArrayBuffer.empty[String]
  private var met: Option[String] = None

  /** Whether every delete fails. */
  @volatile var keepsFiles = false

  /** Whether the log can't be listed any more. */
  @volatile private var blind = false

  /** Whether somebody tried to list it then. */
  @volatile var wasBlind = false

  /** @param number from 0 on */
  def arm(number: Int, kind: Kind): Unit = synchronized {
    armed = Some((number, kind))
    done.clear()
    met = None
    wasBlind = false
  }

  /** Counts operations without failures. */
  def count(): Unit = arm(Int.MaxValue, Before)

  /** Stops failures. Returns the operations since arming, and the one that failed. */
  def disarm(): (Seq[String], Option[String]) = synchronized {
    armed = None
    blind = false
    (done.toList, met)
  }

  private[memory] def around[T](operation: String)(effect: => T): T = {
    val fault = synchronized {
      val number = done.size
      done += operation
      armed.collect { case (`number`, kind) =>
        met = Some(operation)
        kind
      }
    }
    if (blind && operation == "list") {
      wasBlind = true
      throw new IOException("list fails")
    }
    if (keepsFiles && operation == "delete") throw new IOException("delete fails")
    fault match {
      case None => effect
      case Some(Meanwhile(action)) =>
        action()
        effect
      case Some(Before) => throw new IOException(s"$operation fails")
      case Some(After) =>
        effect
        throw new IOException(s"the answer of $operation is lost")
      case Some(Unseen) =>
        effect
        blind = true
        throw new IOException(s"the answer of $operation is lost")
      case Some(Exists) =>
        effect
        throw new FileAlreadyExistsException(s"$operation, tried again")
      case Some(Interrupted) =>
        Thread.currentThread().interrupt()
        throw new InterruptedIOException(operation)
      case Some(Fatal) =>
        effect
        throw new NoClassDefFoundError(operation)
    }
  }
}

object StoreFaults {
  sealed trait Kind

  /** Nothing happened. */
  case object Before extends Kind

  /** It happened, but the response is lost. */
  case object After extends Kind

  /** It happened, the response is lost, and from then on the log is unreadable. */
  case object Unseen extends Kind

  /** It happened, and the store's client retried it. */
  case object Exists extends Kind

  /** It is cancelled, and nothing happens. */
  case object Interrupted extends Kind

  /** It happened, and then a fatal error occurs. */
  case object Fatal extends Kind

  /** Nothing fails, but another writer does something first. */
  final case class Meanwhile(action: () => Unit) extends Kind

  val kinds: Seq[Kind] = Seq(Before, After, Unseen, Exists, Interrupted, Fatal)
}
