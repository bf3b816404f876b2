package io.zcube.clustering.run

import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging

/** The Spark jobs of one run, several at a time. They end together: once one has failed, or the caller
  * is interrupted, nothing new starts, and what runs is cancelled.
  *
  * @param name of the threads
  * @param id   of the run, in the tag of its jobs
  */
final private[clustering] class RunJobs(context: SparkContext, name: String, id: String)
    extends Logging {

  // Users configure the logger by this name, independent of the class name.
  override protected def logName: String = "io.zcube.optimize"

  private val tag = s"zcube-$id"
  private val ended = new AtomicBoolean(false)

  /** Whether nothing new starts any more. */
  def areOver: Boolean = ended.get

  /** Lets running jobs finish; nothing new starts. */
  def end(): Unit = ended.set(true)

  /** Prevents new work, and cancels running jobs. */
  def cancel(): Unit = {
    end()
    try context.cancelJobsWithTag(tag)
    // Nothing runs in a stopped context.
    catch { case NonFatal(e) => logInfo(s"$name: jobs could not be cancelled: $e") }
  }

  /** Ends what is between two jobs, and so wasn't cancelled with them. */
  def goOn(): Unit = if (areOver) throw new CancellationException(s"cancelled with $tag")

  /** Marks the Spark jobs of `body` as those that [[cancel]] cancels. A commit's must not be. */
  def cancellable[T](body: => T): T = {
    context.addJobTag(tag)
    try body
    finally context.removeJobTag(tag)
  }

  /** An interrupt of the caller cancels running work, and is propagated after all of it has cleaned
    * up. It carries what `work` throws, so that this isn't lost.
    */
  def inParallel[A, B](items: Seq[A], threads: Int)(work: A => B): Seq[Try[B]] =
    new Workers(name, threads, () => cancel(), () => areOver).map(items)(work)

  /** The earliest failure; failures of jobs cancelled because of it aren't causes. */
  def firstFailure(outcomes: Seq[Try[_]]): Option[Throwable] = {
    val failures = outcomes.collect { case Failure(e) => e }
    failures.find(!isCancellation(_)).orElse(failures.headOption)
  }

  private def isCancellation(e: Throwable): Boolean =
    Option(e.getMessage).exists(m => m.contains("cancelled") && m.contains(tag))
}
