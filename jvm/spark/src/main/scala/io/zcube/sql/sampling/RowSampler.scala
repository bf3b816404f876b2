package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}

import io.zcube.sql.jobs.JobDescription

/** Draws a uniform sample of a plan's rows, usually with one Spark job.
  *
  * A hash of the row's identity ([[RowIdentity]]) decides whether a row is sampled, never chance,
  * so the same data gives the same sample. Each task keeps a bounded number of rows
  * ([[SampleReservoir]]), and the driver merges the tasks' results as they arrive, so neither ever
  * holds more than the limits, however large the table.
  *
  * The sample is the rows with the smallest hashes, as many as fit, however rows are divided among
  * tasks. But the amount that all tasks together may send is bounded too
  * ([[SampleLimits.maxSent]]), so a task with far more than its share, or one of very many tasks, may
  * have to omit rows that belong to the sample. For more of its rows than it may send, it sends the
  * hashes and sizes. So the driver usually knows which rows the sample has, and a second round
  * fetches exactly these. If not, it knows the number and size of the rows, and another round asks
  * for those below the required hash, with a share for each task in proportion to its rows.
  *
  * Where rows are identified by their contents, the first job draws two samples. If many rows are
  * equal, the second one is used ([[RowIdentity.Contents]]).
  */
object RowSampler {

  /** Samples columns of any plan.
    *
    * @param asQuery makes a query of a plan over the child
    */
  def sample(
      session: SparkSession,
      child: LogicalPlan,
      columns: Seq[Expression],
      limits: SampleLimits,
      description: String,
      asQuery: LogicalPlan => LogicalPlan): RowSample = {
    val width = columns.length
    val named = columns.zipWithIndex.map { case (c, i) => Alias(c, s"c$i")() }
    val (plan, rowIdentity) = PositionedScan.of(child) match {
      case Some(scan) =>
        Project(named ++ scan.position, scan.plan) -> RowIdentity.FilePosition(width, width + 1)
      case None =>
        val hash = ContentHash.of(columns ++ child.output)
        val contents = RowIdentity.Contents(width)
        // A constant tells no rows apart.
        val rowIdentity = if (hash.foldable) contents.copy(together = 0) else contents
        Project(named :+ Alias(hash, "hash")(), child) -> rowIdentity
    }
    sample(session, asQuery(plan), width, rowIdentity, None, limits, description)
  }

  /** @param plan         its first `columns` output columns are sampled, others serve `identity`
    * @param expectedRows approximate number of rows, if known: tasks then drop most rows early
    * @param description  the job's description, for the Spark UI
    */
  def sample(
      session: SparkSession,
      plan: LogicalPlan,
      columns: Int,
      identity: RowIdentity,
      expectedRows: Option[Long],
      limits: SampleLimits,
      description: String): RowSample = {
    val dataTypes = plan.output.take(columns).map(_.dataType)
    val query = new QueryExecution(session, plan)
    JobDescription.within(session.sparkContext, description) {
      // Without a name, so that listeners don't take it for one of the user's queries.
      SQLExecution.withNewExecutionId(query) {
        val round =
          new SampleRounds(query.toRdd, dataTypes, identity, expectedRows, limits).draw()
        val rows = round.rows.map { case (_, bytes) =>
          val row = new UnsafeRow(columns)
          row.pointTo(bytes, bytes.length)
          row: InternalRow
        }
        RowSample(dataTypes, rows, round.rowCount, rows.length.toLong == round.rowCount)
      }
    }
  }
}
