package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.CommittedTransaction
import org.apache.spark.sql.delta.hooks.GenerateSymlinkManifest
import org.apache.spark.sql.zcube.TaskTracker

/** Delta's hook for symlink manifests; if it fails, it returns only after the last of its tasks has
  * ended. An interrupt ends Delta's hook, but not its job, which could finish after
  * [[SymlinkManifest]] has written a newer manifest.
  */
final class AwaitedManifestHook extends StandInHook(GenerateSymlinkManifest) {

  private var thrown: Option[Throwable] = None

  /** Whether this is what the hook's failure became. */
  def threw(error: Throwable): Boolean = thrown.exists(_ eq error)

  override def handleError(spark: SparkSession, error: Throwable, version: Long): Unit =
    try super.handleError(spark, error, version)
    catch {
      case e: Throwable =>
        thrown = Some(e)
        throw e
    }

  override protected def takesPlace: Boolean = true

  override protected def runInPlace(spark: SparkSession, committed: CommittedTransaction): Unit =
    new TaskTracker(spark.sparkContext, None).within(GenerateSymlinkManifest.run(spark, committed))
}
