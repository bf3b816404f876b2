package io.zcube.sql.sampling

import scala.annotation.tailrec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.types.DataType

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

  /** Rows that a task may send if they are small, so that tasks of uneven size don't make the
    * sample too small.
    */
  private val MinRowsOfTask = 4096

  /** The second round knows the sample, unless the sizes of rows differ wildly. */
  private val MaxRounds = 4

  /** Of what a task may send, the part for sizes of rows that it doesn't send. */
  private val ShareOfSizes = 0.125

  /** A hash and a length. */
  private val BytesOfSize = 12

  /** A sample has at most some twice the error of one whose rows are all sampled individually. It is
    * more than the number of copies that are sampled together in a task, so that rows with so many
    * copies in one task aren't a matter of chance.
    */
  private val MaxRowsPerIndependent = 5

  /** A sample may lack this part of the rows. */
  private val MaxLacking = 0.02

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
        val round = run(query.toRdd, dataTypes, identity, expectedRows, limits)
        val rows = round.rows.map { case (_, bytes) =>
          val row = new UnsafeRow(columns)
          row.pointTo(bytes, bytes.length)
          row: InternalRow
        }
        RowSample(dataTypes, rows, round.rowCount, rows.length.toLong == round.rowCount)
      }
    }
  }

  /** Whether the known part of a sample is nearly as exact as it should be. Rows with equal hashes
    * are sampled together or not at all. So a sample of many equal rows has fewer independent rows,
    * or another number of rows than such a part of all rows should have.
    */
  private def isExact(round: SamplingRound, limits: SampleLimits): Boolean = {
    val hashes = round.hashes
    val independent = independentRows(hashes)
    val expected = round.expectedBelow(round.sampleBelow)
    val deviation = hashes.length / math.sqrt(math.max(1.0, independent))
    hashes.length.toLong == round.rowCount ||
    independent * MaxRowsPerIndependent >= round.rowsKnownOf(limits) &&
    math.abs(hashes.length - expected) <= math.max(MaxLacking * expected, 4 * deviation)
  }

  /** A sample with these hashes is as exact as one of this many rows that are all sampled
    * individually. (L. Kish, "Survey Sampling", 1965.)
    *
    * @param hashes ascending
    */
  private[sampling] def independentRows(hashes: Array[Long]): Double = {
    var squares = 0.0
    var from = 0
    while (from < hashes.length) {
      var until = from + 1
      while (until < hashes.length && hashes(until) == hashes(from)) until += 1
      squares += (until - from).toDouble * (until - from)
      from = until
    }
    if (squares == 0) 0 else hashes.length / squares * hashes.length
  }

  private def run(
      rdd: RDD[InternalRow],
      dataTypes: Seq[DataType],
      identity: RowIdentity,
      expectedRows: Option[Long],
      limits: SampleLimits): SamplingRound = {
    val conf = rdd.sparkContext.getConf
    val bounded = limits.within(conf)
    val tasks = math.max(1, rdd.getNumPartitions)
    // Half as much again, plus a constant for small numbers, so that the sample is practically
    // never too small.
    val ceiling =
      expectedRows.fold(Long.MaxValue)(hashBelow(limits.rows * 1.25 + 1000, _))
    val rowsOfTask =
      if (expectedRows.isDefined) bounded.rows.toLong
      else math.max(MinRowsOfTask.toLong, SampleLimits.Oversampling.toLong * limits.rows / tasks)
    val sentByEach = SampleLimits.sentByEach(conf, tasks)
    def bytesOf(sent: Long) = math.min(bounded.bytes, (sent * (1 - ShareOfSizes)).toLong)
    def numberOf(sizes: Double) = math.min(bounded.rows.toDouble, sizes).toInt
    val apart = if (identity.mayHaveCopies) Seq(false, true) else Seq(true)
    // The samples of one job share what its tasks may send.
    val share = sentByEach / apart.size
    val firsts = apart.map(SampleTask(
      dataTypes,
      identity,
      _,
      ceiling,
      bounded,
      math.min(bounded.rows.toLong, rowsOfTask).toInt,
      Array.fill(tasks)(bytesOf(share)),
      Array.fill(tasks)(numberOf(share * ShareOfSizes / BytesOfSize))
    ))

    def after(task: SampleTask, round: SamplingRound): SampleTask = {
      val wanted = round.rowsThatFit(bounded)
      val below =
        math.min(ceiling, hashBelow(wanted * 1.25 + 4 * math.sqrt(wanted) + 16, round.rowCount))
      val sent = SampleLimits.maxSent(conf)
      val sizes = (sent * ShareOfSizes / BytesOfSize).toLong
      task.copy(
        threshold = below,
        maxRows = bounded.rows,
        maxBytes = round.shares(sent).map(bytesOf),
        maxSizes = round.sizesBelow(below, sizes).map(numberOf))
    }

    @tailrec
    def decided(task: SampleTask, round: SamplingRound, rounds: Int): SamplingRound = {
      lazy val next = after(task, round)
      if (round.isDecided(ceiling) || rounds == MaxRounds || !round.mayGrow(task, next)) round
      else decided(next, SamplingRound.run(rdd, Seq(next)).head, rounds + 1)
    }

    /** A sample that isn't exact isn't completed, if there is another one. */
    @tailrec
    def chosen(drawn: Seq[(SampleTask, SamplingRound)]): (SampleTask, SamplingRound) = {
      val (task, first) = drawn.head
      lazy val round = decided(task, first, 1)
      def isExactToo = (round eq first) || isExact(round, bounded)
      if (drawn.size == 1 || isExact(first, bounded) && isExactToo) (task, round)
      else chosen(drawn.tail)
    }

    val (task, round) = chosen(firsts.zip(SamplingRound.run(rdd, firsts)))
    if (round.hasRows) round
    else {
      // These rows fit on the driver, so whichever tasks they are from, they aren't too many to send.
      val exactly = task.copy(
        threshold = round.sampleBelow,
        maxRows = bounded.rows,
        maxBytes = Array.fill(tasks)(bounded.bytes),
        maxSizes = new Array[Int](tasks))
      SamplingRound.run(rdd, Seq(exactly)).head
    }
  }

  /** The hash below which `wanted` of `rows` rows are expected. */
  private def hashBelow(wanted: Double, rows: Long): Long = {
    val fraction = wanted / math.max(1L, rows)
    if (fraction >= 1.0) Long.MaxValue else (fraction * Long.MaxValue.toDouble).toLong
  }
}
