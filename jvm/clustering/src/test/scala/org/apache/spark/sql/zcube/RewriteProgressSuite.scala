package org.apache.spark.sql.zcube

import java.util.Properties

import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.zcube.RewriteProgress.{Progress, RewriteJobs}
import org.apache.spark.{SparkContext, Success, TaskKilled, TaskState}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}

class RewriteProgressSuite extends AnyFunSuite with MemoryEngine with Eventually {

  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds))

  private val tag = "zcube-test"

  private def context = session.sparkContext

  private def following[T](body: RewriteProgress => T): T = {
    val progress = new RewriteProgress(context, tag)
    def listens = context.listenerBus.listeners.contains(progress)
    assert(listens)
    val result =
      try body(progress)
      finally progress.close()
    assert(!listens)
    result
  }

  /** Reports a stage with these numbers to `progress`, as Spark does. */
  private def stage(
      progress: RewriteProgress,
      id: Int,
      tasks: Int,
      completed: Int,
      jobs: Option[RewriteJobs],
      tags: String = tag,
      writes: Boolean = false): Unit = {
    val properties = new Properties
    def copy(): Unit = properties.putAll(context.getLocalProperties)
    jobs.foreach(_.within(context) {
      if (writes) RewriteProgress.writing(context)(copy()) else copy()
    })
    properties.setProperty(SparkContext.SPARK_JOB_TAGS, tags)
    val info = new StageInfo(id, 0, "stage", tasks, Nil, Nil, "", resourceProfileId = 0)
    progress.onStageSubmitted(SparkListenerStageSubmitted(info, properties))
    for (i <- 0 to completed) {
      val task = new TaskInfo(i.toLong, i, 0, i, 0L, "1", "host", TaskLocality.ANY, false)
      // One more is killed, as a second attempt of speculation.
      val killed = i == completed
      task.markFinished(if (killed) TaskState.KILLED else TaskState.FINISHED, 1L)
      val reason = if (killed) TaskKilled("another attempt succeeded") else Success
      progress.onTaskEnd(SparkListenerTaskEnd(id, 0, "ResultTask", reason, task, null, null))
    }
  }

  test("the sample counts for a fifth of a group, the shuffle and the files for two fifths each") {
    following { progress =>
      assert(progress.current == Progress(0, 0, 0))
      val first = Some(RewriteJobs("run", 1, cubes = 1, total = 4, bytes = 1000))
      val third = Some(RewriteJobs("run", 3, cubes = 1, total = 4, bytes = 500))
      // Group 1 is written, group 3 is half way through its shuffle. Stages of both alternate.
      stage(progress, 1, tasks = 10, completed = 10, first)
      stage(progress, 2, tasks = 0, completed = 0, third)
      stage(progress, 4, tasks = 3, completed = 3, first, writes = true)
      stage(progress, 3, tasks = 10, completed = 10, first, writes = true)
      stage(progress, 6, tasks = 3, completed = 0, third, writes = true)
      stage(progress, 5, tasks = 8, completed = 4, third, writes = true)
      // Rows are counted after the files, if these have no statistics.
      stage(progress, 7, tasks = 3, completed = 3, first)
      val now = progress.current
      assert(now.cubes == 4)
      assert(math.abs(now.done - (1 + 0.2 + 0.4 * 4 / 8)) < 1e-9)
      assert(now.bytes == 1000 + 200)
    }
  }

  test("cubes that share jobs share their progress") {
    following { progress =>
      val shared = Some(RewriteJobs("run", 2, cubes = 200, total = 203, bytes = 5000))
      stage(progress, 1, tasks = 10, completed = 10, shared)
      stage(progress, 2, tasks = 10, completed = 5, shared, writes = true)
      stage(progress, 3, tasks = 200, completed = 0, shared, writes = true)
      val one = Some(RewriteJobs("run", 1, cubes = 1, total = 203, bytes = 1000))
      stage(progress, 4, tasks = 1, completed = 1, one)
      val now = progress.current
      assert(now.cubes == 203)
      assert(math.abs(now.done - (200 * (0.2 + 0.2) + 0.2)) < 1e-9)
      assert(now.bytes == 2000 + 200)
    }
  }

  test("however many jobs a sample takes, what is written counts as it is written") {
    following { progress =>
      val jobs = Some(RewriteJobs("run", 1, cubes = 1, total = 1, bytes = 1000))
      stage(progress, 1, tasks = 4, completed = 4, jobs)
      stage(progress, 2, tasks = 4, completed = 2, jobs)
      stage(progress, 3, tasks = 4, completed = 0, jobs)
      assert(progress.current == Progress(1, 0.2, 200))
      stage(progress, 4, tasks = 4, completed = 2, jobs, writes = true)
      assert(progress.current == Progress(1, 0.4, 400))
    }
  }

  test("tasks that run again don't count twice") {
    following { progress =>
      val jobs = Some(RewriteJobs("run", 1, cubes = 1, total = 1, bytes = 1000))
      stage(progress, 1, tasks = 2, completed = 2, jobs)
      stage(progress, 1, tasks = 2, completed = 2, jobs)
      assert(progress.current == Progress(1, 0.2, 200))
    }
  }

  test("jobs of other work and of other runs are ignored") {
    following { progress =>
      val other = Some(RewriteJobs("other", 1, cubes = 1, total = 9, bytes = 1000))
      stage(progress, 1, tasks = 1, completed = 1, other, tags = s"$tag-2,x")
      stage(progress, 2, tasks = 1, completed = 1, jobs = None)
      assert(progress.current == Progress(0, 0, 0))
      stage(progress, 3, tasks = 1, completed = 1, other, tags = s"x,$tag")
      assert(progress.current == Progress(9, 0.2, 200))
    }
  }

  for (cubes <- Seq(1, 2)) test(s"a run's jobs say what they rewrite; cubes: $cubes") {
    val table = new MemoryTable("t", schema, Seq("p"))
    for (_ <- 1 to 3)
      table.append((0L until 4).map(id =>
        InternalRow(id, id.toInt, -id, (id % cubes).toInt)))
    val bytes = table.now.live.map(_.bytes).sum
    context.addJobTag(tag)
    try following { progress =>
        assert(run(taskOf(table)).outcomes.size == cubes)
        eventually {
          val now = progress.current
          assert(now.cubes == cubes)
          assert(math.abs(now.done - cubes) < 1e-9)
          assert(now.bytes == bytes)
        }
      }
    finally context.removeJobTag(tag)
    assert(!context.getLocalProperties.stringPropertyNames.toArray.exists(
      _.toString.startsWith("spark.zcube.rewrite.")))
  }
}
