package org.apache.spark.sql.delta.zcube

import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.TimeUnit

import scala.util.Try

import org.scalatest.Suite

import io.zcube.concurrent.Caught

/** Statements on tables whose store fails. */
private[zcube] trait FaultyTables extends DeltaSparkSession { self: Suite =>

  override protected def settings: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> "1",
    "spark.databricks.delta.snapshotPartitions" -> "1",
    "spark.hadoop.fs.faulty.impl" -> classOf[FaultyFileSystem].getName,
    "spark.delta.logStore.faulty.impl" -> classOf[FaultyLogStore].getName
  )

  /** How much is swept: see [[SweepPoints]]. */
  protected val mode: Option[String] = sys.env.get("ZCUBE_SWEEP")

  protected val points = new SweepPoints(mode)

  /** Where the results of kinds are kept. A kind that is there isn't swept again, so that a sweep
    * can be stopped and continued.
    */
  protected val results: Option[SweepResults] =
    for (file <- sys.env.get("ZCUBE_SWEEP_RESULT"); m <- mode)
      yield new SweepResults(LocalPath.of(file), m)

  /** Runs a statement with a failing operation, and interrupts it if that hangs. */
  protected def endOf(faults: Faults)(statement: => Unit): Try[Unit] = Faults.watch(faults) {
    @volatile var end: Option[Try[Unit]] = None
    val thread = new Thread(() => end = Some(Caught(statement)))
    thread.start()
    var waited = 0L
    while (end.isEmpty && waited < FaultyTables.PatienceMs) {
      if (faults.hangs.await(5, TimeUnit.MILLISECONDS)) {
        thread.interrupt()
        thread.join(FaultyTables.PatienceMs)
        waited = FaultyTables.PatienceMs
      }
      waited += 5
    }
    end.getOrElse(fail(s"It did not end: ${thread.getStackTrace.mkString("\n")}"))
  }

  /** What is in each file. */
  protected def contents(of: LocalPath): Map[String, Seq[Byte]] = walk(of)
    .filter(Files.isRegularFile(_))
    .map(file => of.relativize(file).toString -> Files.readAllBytes(file).toSeq)
    .toMap
}

private[zcube] object FaultyTables {
  private val PatienceMs = 90000L
}
