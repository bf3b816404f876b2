package org.apache.spark.sql.delta.zcube

import java.lang.management.ManagementFactory

/** The time since it was made. */
final private[zcube] class Stopwatch {
  private val (startedAt, cpuAt) = (System.nanoTime(), cpuTime)

  def seconds: Long = (System.nanoTime() - startedAt) / 1000000000

  /** Of the whole process. */
  def cpuSeconds: Long = (cpuTime - cpuAt) / 1000000000

  private def cpuTime: Long = ManagementFactory.getOperatingSystemMXBean match {
    case bean: com.sun.management.OperatingSystemMXBean => bean.getProcessCpuTime
    case _ => 0L
  }
}
