package org.apache.spark.sql.delta.zcube.merge

import scala.collection.mutable

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.Property
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}

/** What a logger says while something runs. */
object LogLines {

  /** @param each runs at each line, before what logs it goes on */
  def of(name: String, each: String => Unit = _ => ())(body: => Unit): Seq[String] = {
    val lines = mutable.Buffer.empty[String]
    val appender =
      new AbstractAppender(s"lines-of-$name", null, null, true, Array.empty[Property]) {
        override def append(event: LogEvent): Unit = {
          val line = event.getMessage.getFormattedMessage
          lines.synchronized(lines.append(line)): Unit
          each(line)
        }
      }
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    val before = logger.getLevel
    appender.start()
    logger.addAppender(appender)
    logger.setLevel(Level.INFO)
    try body
    finally {
      logger.removeAppender(appender)
      logger.setLevel(before)
      appender.stop()
    }
    lines.synchronized(lines.toSeq)
  }
}
