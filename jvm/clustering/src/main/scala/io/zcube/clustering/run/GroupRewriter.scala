package io.zcube.clustering.run

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, BitwiseXor, Expression, Literal, ShiftRightUnsigned, XxHash64}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.{RewriteProgress, Sessions}

import io.zcube.clustering.plan.{GroupDescription, OptimizeTask, RewriteGroup}
import io.zcube.clustering.table.{FileSelection, NewCube, RewriteTransaction}
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.jobs.JobDescription
import io.zcube.sql.layout.{LayoutPlan, LayoutWriter}
import io.zcube.sql.sampling.SampleBudget

/** Rewrites groups of files: samples the clustering columns, makes a layout, and writes with one
  * job.
  *
  * @param session a clone of the user's session ([[LayoutSession]])
  * @param samples the budget for the samples of all groups of the run
  * @param goOn    throws if the run has ended: a group between two jobs has none to be cancelled
  */
final class GroupRewriter(
    session: SparkSession,
    task: OptimizeTask,
    selection: FileSelection,
    txn: RewriteTransaction,
    monitor: RunMonitor,
    samples: SampleBudget,
    goOn: () => Unit) {
  import GroupRewriter._

  private val settings = task.settings
  private val sampler = new GroupSampler(session, task, selection, samples)

  /** Runs on the calling thread, with the session active on it.
    *
    * @param groups more than one only if each fills one file
    */
  def run(groups: Seq[RewriteGroup]): Seq[RewriteResult] = {
    FailurePoint.reached(FailurePoint.BeforeSampling)
    val what = GroupDescription.ofJob(task, groups)
    val (written, cpuMs) = monitor.cpuMsOf(groups)(rewrite(groups, what))
    val metrics = written.metrics.copy(cpuMs = cpuMs)
    val figures = metrics.among(groups.map(_.storedBytes))
    val results = groups.indices.map { i =>
      val (group, added) = (groups(i), written.added(i))
      // Nothing regroups after auto compaction, which must not cause a later run to rewrite all.
      val job =
        Option.when(group.planned.overlapping && !task.isAuto)(UUID.randomUUID().toString)
      val cubes = group.planned.sizes.cut(added)(_.storedBytes)
        .map(NewCube(UUID.randomUUID().toString, _, job))
      val result = RewriteResult(group, cubes, figures(i))
      monitor.info(
        group,
        s"${added.flatMap(_.rows).sum} rows of ${group.files.size} files written to ${added.size} " +
          s"files of ZCube ${result.cubeIds}; sampling ${metrics.samplingMs} ms, " +
          s"writing ${metrics.writingMs} ms"
      )
      result
    }
    monitor.withQuality(results)(txn.statistics(written.added.flatten, task.columns))
  }

  private def rewrite(groups: Seq[RewriteGroup], what: String): Written = {
    // The sample itself is not kept while the files are written.
    val ((layout, rows), samplingMs) = Timed.ms {
      sampler.sampled(groups, what) { (sample, files) =>
        val layout = Option.when(sample.rowCount > 0) {
          if (groups.size == 1) sampler.layoutOf(groups.head, sample, files)
          else LayoutPlan.of(sample, 1, task.layoutRequest(), parts = files)
        }
        (layout, sample.rowCount)
      }
    }
    val (added, writingMs) = Timed.ms {
      layout.fold(groups.map(_ => Seq.empty[DataFile])) { plan =>
        val files = math.max(groups.size, plan.cuts.files)
        val context = session.sparkContext
        JobDescription.within(context, s"$what: writing $files files") {
          FailurePoint.reached(FailurePoint.BeforeWriting)
          goOn()
          RewriteProgress.writing(context) {
            if (groups.size == 1) Seq(write(groups.head, plan)) else writeAll(groups, plan)
          }
        }
      }
    }
    checkRows(groups, rows, added)
    Written(added, RewriteMetrics(samplingMs, writingMs, cpuMs = None))
  }

  private def write(group: RewriteGroup, layout: LayoutPlan): Seq[DataFile] = {
    val input = selection.scan(session, group.files)
    val laidOut = LayoutWriter.layOut(
      input.plan,
      input.written,
      sampler.clusteringColumns(input),
      noiseOf(input.position),
      layout,
      settings.sort
    )
    txn.write(laidOut, group.partition)
  }

  /** Writes with one job, with a shuffle partition for each group. */
  private def writeAll(groups: Seq[RewriteGroup], layout: LayoutPlan): Seq[Seq[DataFile]] = {
    val input = selection.scanGroups(session, groups.map(_.files))
    val laidOut = LayoutWriter.layOutGroups(
      input.plan,
      input.written,
      sampler.clusteringColumns(input),
      input.group.getOrElse(throw ZCubeErrors.internal("a scan of groups without group numbers")),
      groups.size,
      layout,
      settings.sort
    )
    // A file's number identifies its group: another extension's rule that adds a shuffle would
    // mix them.
    val planned = Sessions.rowsOf(session, laidOut).queryExecution.executedPlan
    if (planned.outputPartitioning.numPartitions != groups.size) {
      throw ZCubeErrors.internal(
        s"${groups.size} groups in ${planned.outputPartitioning.numPartitions} partitions")
    }
    val written = txn.writeGroups(laidOut, groups(_).partition).groupMap(_.part)(_.file)
    groups.indices.map(written.getOrElse(_, Nil))
  }

  /** Statistics say how many rows were written; without them the rows of the new files are counted.
    *
    * @param rowsIn rows of all groups, as counted by the sampling
    */
  private def checkRows(
      groups: Seq[RewriteGroup],
      rowsIn: Long,
      added: Seq[Seq[DataFile]]): Unit =
    groups.zip(added).foreach { case (group, files) =>
      // For groups that share a job, the log has the counts, and their sum equals the rows read.
      val expected =
        if (groups.size == 1) rowsIn
        else group.rows.getOrElse(throw ZCubeErrors.internal("a shared job of unknown rows"))
      val rowsOut = DataFile.rowsOf(files).getOrElse(txn.countRows(files))
      if (expected != rowsOut) {
        throw ZCubeErrors.rowCountMismatch(task.tableName, expected, rowsOut)
      }
    }
}

object GroupRewriter {

  /** @param added the new files of each group */
  private case class Written(added: Seq[Seq[DataFile]], metrics: RewriteMetrics)

  /** A number that depends only on the row's file and position. */
  private def noiseOf(position: Seq[Attribute]): Expression = {
    val hash = new XxHash64(position)
    ShiftRightUnsigned(BitwiseXor(hash, ShiftRightUnsigned(hash, Literal(32))), Literal(1))
  }
}
