package org.apache.spark.sql.zcube

import org.apache.spark.scheduler.SparkListenerEvent

/** Posted to Spark's listeners. Events come in order, so a listener that has seen it has seen all that
  * was told before it.
  */
private[zcube] case class ListenerMarker(key: String) extends SparkListenerEvent {
  // Nobody's event log should have it.
  override protected[spark] def logEvent: Boolean = false
}
