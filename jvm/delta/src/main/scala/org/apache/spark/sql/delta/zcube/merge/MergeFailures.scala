package org.apache.spark.sql.delta.zcube.merge

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable

import io.zcube.concurrent.Causes

/** Which failures of ZCube's part of a MERGE leave it to Delta. */
object MergeFailures {

  /** Delta may never reach what fails here. If it does, it reports the failure itself, or recovers, as
    * when its materialized rows are lost. Cancelled statements must end.
    */
  object Recoverable {
    def unapply(e: Throwable): Option[Throwable] = e match {
      case NonFatal(_) | _: StackOverflowError | _: OutOfMemoryError | _: LinkageError =>
        Option.when(!isCancelled(e))(e)
      case _ => None
    }
  }

  /** Whether the statement or its jobs were cancelled. */
  def isCancelled(e: Throwable): Boolean =
    Thread.currentThread.isInterrupted || Causes.withSuppressed(e).exists {
      case error: SparkThrowable => Cancellations.contains(error.getCondition)
      case other => Causes.isInterruption(other)
    }

  /** What failed. Messages are left out, as they may quote values of the source. */
  def kindsOf(failure: Throwable): String = Causes.of(failure).map {
    case error: SparkThrowable if error.getCondition != null => s"[${error.getCondition}]"
    case other => other.getClass.getName
  }.distinct.mkString(", caused by ")

  private val Cancellations = Set("SPARK_JOB_CANCELLED", "OPERATION_CANCELED")
}
