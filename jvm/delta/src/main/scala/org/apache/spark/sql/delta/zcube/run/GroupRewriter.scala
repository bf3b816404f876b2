package org.apache.spark.sql.delta.zcube.run

import java.util.UUID

import org.apache.spark.sql.catalyst.expressions.{Attribute, BitwiseXor, Expression, Literal, ShiftRightUnsigned, XxHash64}
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.jobs.FailurePoint
import org.apache.spark.sql.delta.zcube.plan.{GroupDescription, OptimizeTask, RewriteGroup}
import org.apache.spark.sql.delta.zcube.table.CubeTags
import org.apache.spark.sql.delta.zcube.write.{GroupSampler, InputRows, RewriteTransaction}
import org.apache.spark.util.Utils

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
    txn: RewriteTransaction,
    monitor: RunMonitor,
    samples: SampleBudget) {
  import GroupRewriter._

  private val settings = task.settings
  private val tags = new CubeTags(task.layoutTag)
  private val snapshot: Snapshot = txn.snapshot
  private val sampler = new GroupSampler(session, task, snapshot, samples)

  /** Runs on the calling thread, with the session active on it. */
  def run(group: RewriteGroup, removedAt: Long): RewriteResult = {
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
      written.added.map(tags.write(_, cubeId)),
      group.files.map(_.removeWithTimestamp(removedAt, dataChange = false)),
      monitor.withQuality(figures, group, written.added)
    )
  }

  private def rewrite(group: RewriteGroup, what: String): Written = {
    // The sample itself is not kept while the files are written.
    val ((layout, rows), samplingMs) = Utils.timeTakenMs {
      sampler.sampled(group, what) { (sample, files) =>
        val layout = Option.when(sample.rowCount > 0)(
          LayoutPlan.of(sample, files, task.layoutRequest))
        (layout, sample.rowCount)
      }
    }
    val (added, writingMs) = Utils.timeTakenMs {
      layout.fold(Seq.empty[AddFile]) { plan =>
        JobDescription.within(session.sparkContext, s"$what: writing ${plan.cuts.files} files") {
          FailurePoint.reached(FailurePoint.BeforeWriting)
          write(group, plan)
        }
      }
    }
    checkRows(rows, added)
    Written(added, rows, samplingMs, writingMs)
  }

  private def write(group: RewriteGroup, layout: LayoutPlan): Seq[AddFile] = {
    val input = InputRows.of(session, snapshot, group.files)
    val laidOut = LayoutWriter.layOut(
      input.plan,
      input.written,
      sampler.clusteringColumns(input),
      noiseOf(input.place),
      layout,
      settings.sort
    )
    txn.writeFiles(Dataset.ofRows(session, laidOut), None, isOptimize = true, Nil).map {
      // Delta parses the values back from a folder's name, which has no zone of a time, and no way to
      // tell NULL from its own text for NULL. All rows are of the group's partition.
      case file: AddFile =>
        file.copy(partitionValues = group.partitionValues, dataChange = false)
      case other => throw ZCubeErrors.internal(s"a rewrite that wrote ${other.json}")
    }
  }

  /** Statistics say how many rows were written; without them the new files are counted. */
  private def checkRows(rowsIn: Long, added: Seq[AddFile]): Unit = {
    val counts = added.map(_.numLogicalRecords)
    val rowsOut =
      if (counts.forall(_.isDefined)) counts.flatten.sum
      else txn.deltaLog.createDataFrame(snapshot, added).count()
    if (rowsIn != rowsOut) throw ZCubeErrors.rowCountMismatch(task.tableName, rowsIn, rowsOut)
  }
}

object GroupRewriter {

  private case class Written(added: Seq[AddFile], rows: Long, samplingMs: Long, writingMs: Long)

  /** A number that depends on nothing but the row's file and place. */
  private def noiseOf(place: Seq[Attribute]): Expression = {
    val hash = new XxHash64(place)
    ShiftRightUnsigned(BitwiseXor(hash, ShiftRightUnsigned(hash, Literal(32))), Literal(1))
  }
}
