package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.CommittedTransaction
import org.apache.spark.sql.delta.hooks.PostCommitHook

/** A hook that takes the place of one of Delta's among the hooks of a transaction.
  *
  * Delta registers its own hooks at the end of each write, unless an equal one is already
  * registered. This hook is registered earlier and claims to be equal, so Delta's isn't added. From
  * the comparison it knows whether Delta wanted a hook; otherwise it does nothing. If some Delta
  * version compares hooks differently, both are registered: Delta's works as usual, and this one
  * does nothing.
  */
abstract class StandInHook(original: PostCommitHook) extends PostCommitHook {

  @volatile private var wanted = false

  /** Whether Delta has asked for its own, and this one takes its place. */
  def isWanted: Boolean = wanted

  /** Whether to take the place of Delta's. Delta asks when it knows what it commits. */
  protected def takesPlace: Boolean

  protected def runInPlace(spark: SparkSession, committed: CommittedTransaction): Unit

  override val name: String = original.name

  override def run(spark: SparkSession, committed: CommittedTransaction): Unit =
    if (wanted) runInPlace(spark, committed)

  override def handleError(spark: SparkSession, error: Throwable, version: Long): Unit =
    original.handleError(spark, error, version)

  override def equals(other: Any): Boolean = other match {
    case hook: PostCommitHook if hook eq original =>
      wanted = takesPlace
      wanted
    case hook: PostCommitHook => hook.getClass == getClass
    case _ => false
  }

  override def hashCode: Int = original.hashCode
}
