package io.zcube.sql.sampling

import scala.annotation.tailrec

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

/** The rounds in which a sample is drawn, each a Spark job: usually one, sometimes more until it is
  * known which rows the sample has, and then one that fetches those that haven't arrived. Where a job
  * draws two samples, each may need such rounds.
  *
  * @param expectedRows approximate number of rows, if known
  */
final private[sampling] class SampleRounds(
    rdd: RDD[InternalRow],
    dataTypes: Seq[DataType],
    identity: RowIdentity,
    expectedRows: Option[Long],
    limits: SampleLimits) {
  import SampleRounds._

  private val conf = rdd.sparkContext.getConf
  private val bounded = limits.within(conf)
  private val tasks = math.max(1, rdd.getNumPartitions)

  /** No rows at or above this hash are wanted: a quarter more than the sample needs, plus a constant
    * for small numbers, so that it is practically never too small.
    */
  private val ceiling =
    expectedRows.fold(Long.MaxValue)(hashBelow(limits.rows * 1.25 + 1000, _))

  /** Draws the sample, whose rows have arrived. */
  def draw(): SamplingRound = {
    val samples = firsts
    val (task, round) = chosen(samples.zip(SamplingRound.run(rdd, samples)))
    if (round.hasRows) round else SamplingRound.run(rdd, Seq(exactly(task, round))).head
  }

  /** The samples that the first job draws. */
  private def firsts: Seq[SampleTask] = {
    val rows =
      if (expectedRows.isDefined) bounded.rows.toLong
      else math.max(MinRowsOfTask.toLong, SampleLimits.Oversampling.toLong * limits.rows / tasks)
    val apart = if (identity.mayHaveCopies) Seq(false, true) else Seq(true)
    // The samples of one job share what its tasks may send.
    val sent = SampleLimits.sentByEach(conf, tasks) / apart.size
    apart.map(SampleTask(
      dataTypes,
      identity,
      _,
      ceiling,
      bounded,
      math.min(bounded.rows.toLong, rows).toInt,
      Array.fill(tasks)(bytesOf(sent)),
      Array.fill(tasks)(numberOf(sent * ShareOfSizes / BytesOfSize))
    ))
  }

  /** The first sample that is exact, or the last. One that isn't exact isn't completed, if there is
    * another.
    */
  @tailrec
  private def chosen(drawn: Seq[(SampleTask, SamplingRound)]): (SampleTask, SamplingRound) = {
    val (task, first) = drawn.head
    lazy val round = decided(task, first, 1)
    def isExactToo = (round eq first) || isExact(round, bounded)
    if (drawn.size == 1 || isExact(first, bounded) && isExactToo) (task, round)
    else chosen(drawn.tail)
  }

  /** Goes on until it is known which rows the sample has, or another round would tell no more. */
  @tailrec
  private def decided(task: SampleTask, round: SamplingRound, rounds: Int): SamplingRound = {
    lazy val next = after(task, round)
    if (round.isDecided(ceiling) || rounds == MaxRounds || !round.mayGrow(task, next)) round
    else decided(next, SamplingRound.run(rdd, Seq(next)).head, rounds + 1)
  }

  /** The next round: it asks for the rows that fit, with a share for each task in proportion to its
    * rows.
    */
  private def after(task: SampleTask, round: SamplingRound): SampleTask = {
    val wanted = round.rowsThatFit(bounded)
    val below =
      math.min(ceiling, hashBelow(wanted * 1.25 + 4 * math.sqrt(wanted) + 16, round.rowCount))
    val sent = SampleLimits.maxSent(conf)
    val sizes = (sent * ShareOfSizes / BytesOfSize).toLong
    task.copy(
      threshold = below,
      maxRows = bounded.rows,
      maxBytes = round.shareBytes(sent).map(bytesOf),
      maxSizes = round.shareSizes(sizes, below).map(numberOf))
  }

  /** The round that fetches what a round has decided. These rows fit on the driver, so whichever tasks
    * they are from, they aren't too many to send.
    */
  private def exactly(task: SampleTask, round: SamplingRound): SampleTask = task.copy(
    threshold = round.sampleBelow,
    maxRows = bounded.rows,
    maxBytes = Array.fill(tasks)(bounded.bytes),
    maxSizes = new Array[Int](tasks))

  private def bytesOf(sent: Long): Long =
    math.min(bounded.bytes, (sent * (1 - ShareOfSizes)).toLong)

  private def numberOf(sizes: Double): Int = math.min(bounded.rows.toDouble, sizes).toInt
}

private[sampling] object SampleRounds {

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

  /** The hash below which `wanted` of `rows` rows are expected. */
  private def hashBelow(wanted: Double, rows: Long): Long = {
    val fraction = wanted / math.max(1L, rows)
    if (fraction >= 1.0) Long.MaxValue else (fraction * Long.MaxValue.toDouble).toLong
  }
}
