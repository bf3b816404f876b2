package io.zcube.clustering.run

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, BitwiseXor, Expression, Literal, ShiftRightUnsigned, XxHash64}
import org.apache.spark.sql.classic.SparkSession

import io.zcube.clustering.plan.{GroupDescription, OptimizeTask, RewriteGroup}
import io.zcube.clustering.table.{FileSelection, RewriteTransaction}
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.{LayoutPlan, LayoutWriter}
import io.zcube.sql.sampling.{JobDescription, SampleBudget}

/** Rewrites one group of files: a sample of the clustering columns, a layout, one job that writes.
  *
  * @param session a clone of the user's ([[LayoutSession]])
  * @param samples for the samples of all groups of the run
  */
final class GroupRewriter(
    session: SparkSession,
    task: OptimizeTask,
    selection: FileSelection,
    txn: RewriteTransaction,
    monitor: RunMonitor,
    samples: SampleBudget) {
  import GroupRewriter._

  private val settings = task.settings
  private val sampler = new GroupSampler(session, task, selection, samples)

  /** Runs on the calling thread, with the session active on it. */
  def run(group: RewriteGroup): RewriteResult = {
    FailurePoint.reached(FailurePoint.BeforeSampling)
    val what = GroupDescription.ofJob(task, group)
    val (written, cpuMs) = monitor.cpuMsOf(group)(rewrite(group, what))
    val cubeId = UUID.randomUUID().toString
    val figures = RewriteMetrics(written.samplingMs, written.writingMs, cpuMs)
    monitor.info(
      group,
      s"${written.rows} rows of ${group.files.size} files written to ${written.added.size} files of " +
        s"ZCube $cubeId; sampling ${written.samplingMs} ms, writing ${written.writingMs} ms"
    )
    RewriteResult(
      group,
      cubeId,
      written.added,
      monitor.withQuality(figures, group)(txn.statistics(written.added, task.columns))
    )
  }

  private def rewrite(group: RewriteGroup, what: String): Written = {
    // The sample itself is not kept while the files are written.
    val ((layout, rows), samplingMs) = Timed.ms {
      sampler.sampled(group, what) { (sample, files) =>
        val layout = Option.when(sample.rowCount > 0)(
          LayoutPlan.of(sample, files, task.layoutRequest))
        (layout, sample.rowCount)
      }
    }
    val (added, writingMs) = Timed.ms {
      layout.fold(Seq.empty[DataFile]) { plan =>
        JobDescription.within(session.sparkContext, s"$what: writing ${plan.cuts.files} files") {
          FailurePoint.reached(FailurePoint.BeforeWriting)
          write(group, plan)
        }
      }
    }
    checkRows(rows, added)
    Written(added, rows, samplingMs, writingMs)
  }

  private def write(group: RewriteGroup, layout: LayoutPlan): Seq[DataFile] = {
    val input = selection.scan(session, group.files)
    val laidOut = LayoutWriter.layOut(
      input.plan,
      input.written,
      sampler.clusteringColumns(input),
      noiseOf(input.place),
      layout,
      settings.sort
    )
    txn.write(laidOut, group.partition)
  }

  /** Statistics say how many rows were written; without them the new files are counted. */
  private def checkRows(rowsIn: Long, added: Seq[DataFile]): Unit = {
    val counts = added.map(_.rows)
    val rowsOut =
      if (counts.forall(_.isDefined)) counts.flatten.sum
      else txn.countRows(added)
    if (rowsIn != rowsOut) throw ZCubeErrors.rowCountMismatch(task.tableName, rowsIn, rowsOut)
  }
}

object GroupRewriter {

  private case class Written(added: Seq[DataFile], rows: Long, samplingMs: Long, writingMs: Long)

  /** A number that depends on nothing but the row's file and place. */
  private def noiseOf(place: Seq[Attribute]): Expression = {
    val hash = new XxHash64(place)
    ShiftRightUnsigned(BitwiseXor(hash, ShiftRightUnsigned(hash, Literal(32))), Literal(1))
  }
}
