package io.zcube.sql.sampling

import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration.Duration
import scala.concurrent.{Await, ExecutionContext, Future}

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.sql.zcube.SparkEvents
import org.apache.spark.sql.{DataFrame, classic}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.ZCubeSparkSession

/** The sampling job with a low limit on task results: Spark fails a job that sends more. */
class RowSamplerSuite extends AnyFunSuite with ZCubeSparkSession {

  override protected def settings: Map[String, String] = Map("spark.driver.maxResultSize" -> "5m")

  private val types = Seq[DataType](LongType, StringType)

  /** Rows of some files: a number, a string of up to `width` letters, the file, the position in it.
    */
  private def rows(from: Long, until: Long, tasks: Int, width: Int): DataFrame =
    spark.range(from, until, 1, tasks).selectExpr(
      "id",
      s"repeat('x', cast(pmod(hash(id), $width) AS INT)) s",
      "concat('file-', id % 10) name",
      "id place")

  private def sampled(
      df: DataFrame,
      limits: SampleLimits,
      expected: Option[Long],
      identity: RowIdentity = RowIdentity.FilePosition(2, 3)): RowSample =
    RowSampler.sample(
      spark.asInstanceOf[classic.SparkSession],
      df.asInstanceOf[classic.DataFrame].queryExecution.analyzed,
      2,
      identity,
      expected,
      limits,
      "test"
    )

  private def ids(sample: RowSample): Seq[Long] = sample.rows.map(_.getLong(0)).toSeq

  private def sizeOf(rows: Seq[InternalRow]): Long =
    rows.map(_.asInstanceOf[UnsafeRow].getSizeInBytes + SampleLimits.RowOverhead).sum

  /** The definition: the rows with the smallest hashes, as many as fit. */
  private def expected(df: DataFrame, limits: SampleLimits): Seq[Long] = {
    val project = UnsafeProjection.create(types.toArray)
    // Without the strings, because query results are limited as well.
    val all = df.selectExpr("id", "length(s)", "name", "place").collect().map { row =>
      val text = UTF8String.fromString("x" * row.getInt(1))
      val size =
        project(InternalRow(row.getLong(0), text)).getSizeInBytes + SampleLimits.RowOverhead
      val seed = RowHash.ofPath(UTF8String.fromString(row.getString(2)))
      (RowHash.of(seed, row.getLong(3)), row.getLong(0), size)
    }.sortBy(_._1)
    val sizes = all.scanLeft(0L)(_ + _._3).drop(1)
    all.zip(sizes).take(limits.rows).takeWhile(_._2 <= limits.bytes).map(_._1._2).toSeq
  }

  /** The number of Spark jobs that `body` starts. */
  private def jobsOf[T](body: => T): (T, Int) = {
    val (result, jobs) = SparkEvents.jobsOf(spark.sparkContext)(body)
    (result, jobs.size)
  }

  private lazy val bounded = SampleLimits(20000, Long.MaxValue).within(spark.sparkContext.getConf)

  if (Night.all) test("the bound follows the driver's limit") {
    assert(SampleLimits.maxSent(spark.sparkContext.getConf) == 5 << 19)
    assert(bounded.bytes == 5 << 17)
    def of(size: String) =
      SampleLimits.maxSent(spark.sparkContext.getConf.set("spark.driver.maxResultSize", size))
    assert(of("1g") == of("0") && of("1g") == 4 * SampleLimits.MaxBytes)
  }

  if (Night.all) test("many tasks of unknown size send no more than the driver accepts") {
    val df = rows(0, 150000, 300, 100)
    val sample = sampled(df, bounded, None)
    assert(sample.rowCount == 150000)
    assert(ids(sample) == expected(df, bounded))
    assert(sizeOf(sample.rows.toSeq) <= bounded.bytes)
  }

  if (Night.all) test("so do tasks of known size with long texts") {
    val df = rows(0, 20000, 100, 1500)
    val sample = sampled(df, bounded, Some(20000))
    assert(ids(sample) == expected(df, bounded))
    assert(ids(sample).size < 2000)
  }

  for (known <- Seq(Some(60000L)) ++ Night.only(None))
    test(
      s"the sample doesn't depend on the tasks, with ${known.fold("no")(_.toString)} rows expected") {
      val limits = bounded.copy(rows = 5000)
      val tasks = if (Night.all) 150 else 50
      val divided = Seq(
        rows(0, 60000, 1, 300),
        rows(0, 60000, tasks, 300),
        // One task has nearly all.
        rows(0, 58000, 1, 300).union(rows(58000, 60000, tasks * 4 / 5, 300))
      ) ++ Night.only(rows(0, 60000, 7, 300))
      val wanted = expected(divided.head, limits)
      assert(wanted.size > 1000)
      divided.foreach(df => assert(ids(sampled(df, limits, known)) == wanted))
      val wide = bounded.copy(rows = 300)
      val few = expected(divided.head, wide)
      divided.foreach(df => assert(ids(sampled(df, wide, known)) == few))
    }

  test("the position of wide rows doesn't matter either") {
    val df = rows(0, 3000, 1, 5000).union(rows(3000, 60000, 99, 10))
    val same = rows(0, 3000, 60, 5000).union(rows(3000, 60000, 2, 10))
    val wanted = expected(df, bounded)
    Seq(df, same).foreach(division => assert(ids(sampled(division, bounded, None)) == wanted))
  }

  for (known <- Seq(Some(6000L), None))
    test(s"tasks that may send hardly a row need two jobs, with ${known.fold("no")(_.toString)} rows expected") {
      // Half a row of each task is in the sample, and a task may send two.
      val df = rows(0, 6000, 200, 12000)
      val (sample, jobs) = jobsOf(sampled(df, bounded, known))
      val wanted = expected(df, bounded)
      assert(ids(sample) == wanted && wanted.size > 80)
      assert(jobs == 2)
      // Now not even one.
      val wide = rows(0, 1000, 200, 40000)
      val (few, again) = jobsOf(sampled(wide, bounded, known))
      assert(ids(few) == expected(wide, bounded) && few.rows.length > 20)
      assert(again == 2)
    }

  test("no round is run that can't know more than the last") {
    // Rows with equal hashes are sampled together, and no task can send all of these.
    val equal = spark.range(0, 180000, 1, 200).selectExpr("id", "'x' s", "'file' name", "7L place")
    val (sample, jobs) = jobsOf(sampled(equal, bounded, None))
    assert(sample.rowCount == 180000 && sample.rows.isEmpty)
    assert(jobs <= 2)
  }

  test("rows that are all equal are a sample like any others") {
    for (hash <- Seq(5L, Long.MaxValue - 5)) {
      val equal = spark.range(0, 180000, 1, 200).selectExpr("id", "'x' s", s"${hash}L hash")
      val (sample, jobs) = jobsOf(sampled(equal, bounded, None, RowIdentity.Contents(2)))
      assert(sample.rowCount == 180000)
      val size = sizeOf(sample.rows.toSeq)
      assert(size <= bounded.bytes && size > 0.9 * bounded.bytes)
      assert(ids(sample).distinct.size == sample.rows.length)
      assert(jobs <= 2)
    }
  }

  test("rows of a usual foreign key are scanned once, though their copies are in many tasks") {
    // 6 copies of each are in two tasks, or one of each is in every task.
    for (rows <- Seq("id % 20000", "id % 3000")) {
      val keys = spark.range(0, 120000, 1, 40).selectExpr(rows + " k").selectExpr(
        "k",
        "'x' s",
        "xxhash64(k) hash")
      val limits = bounded.copy(rows = 2000)
      val (sample, jobs) = jobsOf(sampled(keys, limits, None, RowIdentity.Contents(2)))
      assert(jobs == 1 && sample.rows.length == 2000)
      // Rows are independent, so nearly no value has many copies.
      assert(ids(sample).groupBy(identity).values.map(_.size).max < 8)
    }
  }

  test("what the first round couldn't see is noticed later") {
    // 250 values, of which each small task has four copies; one task has half of the rows.
    for (seed <- 0 until 5) {
      val keys = spark.range(0, 398000, 1, 199).union(spark.range(398000, 798000, 1, 1))
        .selectExpr(s"if(id % 2 = 0, -1 - 1000 * $seed - (id div 2) % 250, id) k")
        .selectExpr("k", "'x' s", "xxhash64(k) hash")
      val sample = sampled(keys, bounded, None, RowIdentity.Contents(2))
      val values = ids(sample).filter(_ < 0).groupBy(identity).values.map(_.size).toSeq
      assert(sample.rows.length > 5000)
      assert(values.max < 60)
      assert(math.abs(values.sum - sample.rows.length / 2) < 300)
    }
  }

  test("one of very many tasks may send more than an even share, if the driver accepts it") {
    def each(size: String, tasks: Int) =
      SampleLimits.sentByEach(new SparkConf(false).set("spark.driver.maxResultSize", size), tasks)
    // 10 TiB in splits of 128 MiB.
    for (size <- Seq("1g", "0"))
      assert(each(size, 81920) == (512 << 20) / 81920)
    assert(each("4g", 81920) == 8192)
    assert(each("1g", 1000) == 4 * SampleLimits.MaxBytes / 1000)
    assert(each("64m", 81920) == (32 << 20) / 81920)
  }

  test("plans without rows, and with more splits than rows, have their sample") {
    assert(sampled(rows(0, 0, 1, 10), bounded, None).rowCount == 0)
    val all = sampled(rows(0, 100, 40, 10), bounded, Some(100))
    assert(all.complete && all.rows.length == 100)
  }

  test("all samples of a run together stay within its budget") {
    val df = rows(0, 20000, 4, 300)
    val limits = SampleLimits(20000, 200 << 10)
    val budget = new SampleBudget(500 << 10)
    val held, most = new AtomicLong
    val pool = Executors.newFixedThreadPool(10)
    implicit val workers: ExecutionContext = ExecutionContext.fromExecutor(pool)
    try {
      val samples = Future.sequence((1 to 20).map { number =>
        Future(budget.within(limits.bytesOf(types)) {
          val sample = sampled(df.where(s"id % 20 <> $number"), limits, None)
          val bytes = sizeOf(sample.rows.toSeq)
          assert(bytes > (150 << 10))
          val now = held.addAndGet(bytes)
          most.accumulateAndGet(now, (a: Long, b: Long) => math.max(a, b))
          Thread.sleep(20)
          held.addAndGet(-bytes)
          ids(sample)
        })
      })
      // The samples don't depend on when they were drawn.
      Await.result(samples, Duration.Inf).zip(1 to 20).foreach { case (found, number) =>
        assert(found == expected(df.where(s"id % 20 <> $number"), limits))
      }
      assert(most.get <= (500 << 10))
    } finally pool.shutdown()
  }

  test("a budget: a request above the whole gets the whole, and waiting ends when told") {
    val small = new SampleBudget(1000)
    assert(small.within(1L << 40)(7) == 7)
    assert(small.within(1000)(8) == 8)
    val stopped = new SampleBudget(1000, () => throw new InterruptedException("over"))
    assert(intercept[InterruptedException](stopped.within(10)(9)).getMessage == "over")
    assert(intercept[InterruptedException](stopped.within(10)(9)).getMessage == "over")
  }

  test("for columns of fixed length the bytes are known in advance") {
    val limits = SampleLimits.ofRows(100000)
    assert(limits.bytesOf(Seq(LongType, LongType)) == 100000L * (8 + 16 + SampleLimits.RowOverhead))
    assert(limits.bytesOf(types) == SampleLimits.MaxBytes)
    assert(SampleBudget.MaxBytes >= 10 * limits.bytesOf(Seq(LongType, LongType, LongType)))
  }
}
