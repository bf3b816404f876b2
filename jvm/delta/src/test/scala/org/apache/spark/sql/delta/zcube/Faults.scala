package org.apache.spark.sql.delta.zcube

import java.io.{IOException, InterruptedIOException}
import java.nio.file.FileAlreadyExistsException
import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.collection.mutable

import org.apache.hadoop.fs.Path

/** Counts the operations of [[FaultyFileSystem]] and [[FaultyLogStore]] in a folder, and makes one
  * of them fail. A thread of an earlier run may still be working in that run's folder: its
  * operations are not counted here, and its own [[Faults]] handles its fault.
  *
  * @param folder  the table's folder
  * @param failing the operation that fails, if any
  */
final private[zcube] class Faults(folder: String, failing: Option[Faults.Point]) {
  import Faults._

  private val counted = mutable.Map.empty[String, Int]
  private val hanging, released = new CountDownLatch(1)
  @volatile private var met = false
  @volatile private var stuck = false

  /** The number of operations of each kind. */
  def counts: Map[String, Int] = synchronized(counted.toMap)

  /** Whether the operation that fails was reached. */
  def wasMet: Boolean = met

  /** Whether a hang was not interrupted in time. */
  def wasStuck: Boolean = stuck

  /** Released when an operation hangs. */
  def hangs: CountDownLatch = hanging

  /** Ends a hang that nobody has interrupted. */
  def release(): Unit = released.countDown()

  private def covers(path: Path): Boolean = s"${path.toUri.getPath}/".contains(s"$folder/")

  private def in[T](kind: String, half: => Unit)(operation: => T): T = {
    val number = synchronized {
      val next = counted.getOrElse(kind, 0) + 1
      counted(kind) = next
      next
    }
    failing.filter(p => p.kind == kind && p.number == number).map(_.fault) match {
      case None => operation
      case Some(fault) =>
        met = true
        fault match {
          case Fault.Hang => hang()
          case Fault.Before => throw new IOException(s"fault before $kind")
          case Fault.Within =>
            half
            throw new IOException(s"fault within $kind")
          case after =>
            val _ = operation
            if (after == Fault.After) throw new IOException(s"fault after $kind")
            else throw new FileAlreadyExistsException(s"fault after $kind")
        }
    }
  }

  private def hang(): Nothing = {
    hanging.countDown()
    stuck =
      try !released.await(PatienceMs, TimeUnit.MILLISECONDS)
      catch { case _: InterruptedException => throw new InterruptedIOException("interrupted") }
    throw new IOException("a hang that was not interrupted")
  }
}

private[zcube] object Faults {

  /** The `number`-th operation of a kind, from 1 on. */
  final case class Point(kind: String, number: Int, fault: Fault.Value) {
    override def toString: String = s"$kind $number, $fault"
  }

  @volatile private var watching: Option[Faults] = None

  /** Runs `body` while monitoring the operations in a folder. */
  def watch[T](faults: Faults)(body: => T): T = {
    watching = Some(faults)
    try body
    finally watching = None
  }

  /** An operation, which may be the one that fails.
    *
    * @param half does half of it
    */
  def in[T](kind: String, path: Path, half: => Unit = ())(operation: => T): T =
    watching.filter(_.covers(path)) match {
      case Some(faults) => faults.in(kind, half)(operation)
      case None => operation
    }

  private val PatienceMs = 20000L
}
