package org.apache.spark.sql.zcube

import java.util.Properties
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._

import io.zcube.sql.jobs.JobProperties

/** Follows the Spark jobs with a tag that rewrite groups of files, for a progress bar. Jobs carry
  * what they rewrite as local properties.
  *
  * Example: of four cubes one is sampled, by 5 of 10 tasks. Then [[current]] is 0.1 of 4 cubes.
  *
  * @param tag a job tag that all jobs of a run have, and no others
  */
final class RewriteProgress(context: SparkContext, tag: String) extends SparkListener {
  import RewriteProgress._

  private class Stage(val jobs: RewriteJobs, val tasks: Int, val writes: Boolean) {
    val completed = new AtomicLong
    // An attempt that is repeated completes its tasks again.
    def share: Double = if (tasks == 0) 0 else math.min(1.0, completed.get.toDouble / tasks)
  }

  private val stages = new ConcurrentHashMap[Int, Stage]()

  ListenerQueue.add(context, this)

  /** Stops receiving events. */
  def close(): Unit = ListenerQueue.remove(context, this)

  /** The progress by now; 0 of 0 cubes while none is being rewritten. */
  def current: Progress = {
    val jobs = stages.asScala.toSeq.sortBy(_._1).map(_._2).groupBy(_.jobs)
    val shares = jobs.map { case (rewrite, ofJobs) =>
      val (writing, sampling) = ofJobs.partition(_.writes)
      // A sample may take several jobs. How many isn't known before the last one.
      val sampled = if (writing.isEmpty) sampling.head.share else 1.0
      val written = WritingWeights.zip(writing).map { case (weight, stage) => weight * stage.share }
      rewrite -> (SamplingWeight * sampled + written.sum)
    }
    Progress(
      shares.keys.groupMapReduce(_.run)(_.total)(math.max).values.sum,
      shares.map { case (rewrite, share) => rewrite.cubes * share }.sum,
      shares.map { case (rewrite, share) => math.round(rewrite.bytes * share) }.sum
    )
  }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    if (ListenerQueue.isTagged(event.properties, tag)) {
      RewriteJobs.of(event.properties).foreach { jobs =>
        val writes = event.properties.getProperty(Writes) != null
        stages.putIfAbsent(
          event.stageInfo.stageId,
          new Stage(jobs, event.stageInfo.numTasks, writes))
      }
    }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    Option(stages.get(event.stageId)).filter(_ => event.taskInfo.successful).foreach {
      _.completed.incrementAndGet()
    }
}

object RewriteProgress {

  /** @param cubes the number of cubes that the runs write
    * @param done  how many of them are written; one in progress counts with its fraction
    * @param bytes stored bytes of the files that are rewritten so far
    */
  case class Progress(cubes: Int, done: Double, bytes: Long)

  /** What some jobs rewrite together.
    *
    * @param run   the run's id
    * @param first number of the first group in the run's plan
    * @param cubes the number of cubes that they write
    * @param total the number of cubes that the run writes
    * @param bytes stored bytes of the files that they read
    */
  case class RewriteJobs(run: String, first: Int, cubes: Int, total: Int, bytes: Long) {

    /** Runs `body`, whose jobs rewrite this. */
    def within[T](context: SparkContext)(body: => T): T = {
      val values = Seq(run, s"$first", s"$cubes", s"$total", s"$bytes")
      JobProperties.within(context, Keys.zip(values): _*)(body)
    }
  }

  object RewriteJobs {
    private[RewriteProgress] def of(properties: Properties): Option[RewriteJobs] =
      Keys.map(name => Option(properties.getProperty(name))) match {
        case Seq(Some(run), Some(first), Some(cubes), Some(total), Some(bytes)) =>
          Some(RewriteJobs(run, first.toInt, cubes.toInt, total.toInt, bytes.toLong))
        case _ => None
      }
  }

  private val Prefix = "spark.zcube.rewrite."

  private val Keys = Seq("run", "first", "cubes", "total", "bytes").map(Prefix + _)

  private val Writes = Prefix + "writes"

  /** Marks the jobs of `body`, within [[RewriteJobs.within]], as those that write; others sample. */
  def writing[T](context: SparkContext)(body: => T): T =
    JobProperties.within(context, Writes -> true.toString)(body)

  /** The approximate share of a group's time that the sample takes. */
  private val SamplingWeight = 0.2

  /** The same of the stages that write: the shuffle, the files. */
  private val WritingWeights = Seq(0.4, 0.4)
}
