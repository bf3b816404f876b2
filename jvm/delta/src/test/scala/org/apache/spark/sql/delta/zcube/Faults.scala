package org.apache.spark.sql.delta.zcube

import java.io.{IOException, InterruptedIOException}
import java.nio.file.FileAlreadyExistsException
import java.util.concurrent.CountDownLatch

import scala.collection.mutable

/** Counts the operations of [[FaultyFileSystem]] and [[FaultyLogStore]], and lets one of them fail. */
private[zcube] object Faults {

  /** The `number`-th operation of a kind, from 1 on. */
  final case class Point(kind: String, number: Int, fault: Fault.Value) {
    override def toString: String = s"$kind $number, $fault"
  }

  private var watching = false
  private var point: Option[Point] = None
  private val counts = mutable.Map.empty[String, Int]
  private var hanging = new CountDownLatch(1)
  @volatile private var met = false
  @volatile private var stuck = false

  /** From now on operations are counted, and the one that is named fails. */
  def begin(failing: Option[Point]): Unit = synchronized {
    counts.clear()
    point = failing
    hanging = new CountDownLatch(1)
    met = false
    stuck = false
    watching = true
  }

  /** How many operations of each kind there were. */
  def end(): Map[String, Int] = synchronized {
    watching = false
    counts.toMap
  }

  def wasMet: Boolean = met

  /** Whether a hang was not interrupted in time. */
  def wasStuck: Boolean = stuck

  /** Opens when an operation hangs. */
  def hangs: CountDownLatch = synchronized(hanging)

  /** An operation, which may be the one that fails. */
  def in[T](kind: String)(operation: => T): T = {
    val fault = synchronized {
      if (!watching) None
      else {
        val number = counts.getOrElse(kind, 0) + 1
        counts(kind) = number
        point.filter(p => p.kind == kind && p.number == number).map(_.fault)
      }
    }
    if (fault.isDefined) met = true
    fault match {
      case None => operation
      case Some(Fault.Hang) => hang()
      case Some(Fault.Before) => throw new IOException(s"fault before $kind")
      case Some(after) =>
        val _ = operation
        if (after == Fault.After) throw new IOException(s"fault after $kind")
        else throw new FileAlreadyExistsException(s"fault after $kind")
    }
  }

  private def hang(): Nothing = {
    hangs.countDown()
    try Thread.sleep(PatienceMs)
    catch { case _: InterruptedException => throw new InterruptedIOException("interrupted") }
    stuck = true
    throw new IOException("a hang that nobody interrupted")
  }

  private val PatienceMs = 20000L
}
