package org.apache.spark.sql.zcube

import org.apache.spark.scheduler.SparkListenerEvent

/** An event posted to Spark's listeners. Events arrive in order, so a listener that has seen it has
  * seen all earlier events.
  */
private[zcube] case class ListenerMarker(key: String) extends SparkListenerEvent {
  // It must not appear in event logs.
  override protected[spark] def logEvent: Boolean = false
}
