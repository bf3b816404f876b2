package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_LAST_COMMIT_VERSION_IN_SESSION

/** Delta has the last version that a session committed in its settings, for programs to ask. ZCube
  * commits in a clone of the session.
  */
object LastVersion {

  /** Runs what commits in the clone. Then the user's session has the version too, if there is a new
    * one, however the body ends.
    */
  def within[T](user: SparkSession, clone: SparkSession)(body: => T): T = {
    def version = clone.sessionState.conf.getConf(DELTA_LAST_COMMIT_VERSION_IN_SESSION)
    val before = version
    try body
    finally if (version != before)
        user.sessionState.conf.setConf(DELTA_LAST_COMMIT_VERSION_IN_SESSION, version)
  }
}
