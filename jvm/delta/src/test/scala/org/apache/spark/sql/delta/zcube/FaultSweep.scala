package org.apache.spark.sql.delta.zcube

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Random, Success, Try, Using}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.delta.DeltaLog
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Caught

/** Runs an OPTIMIZE repeatedly, and each time a different operation of its store fails. The checks
  * afterwards read the plain disk, bypassing the faulty store.
  */
abstract private[zcube] class FaultSweep extends AnyFunSuite with DeltaSparkSession {
  import FaultSweep._

  /** The master in Spark's form. */
  protected def master: String

  override protected def settings: Map[String, String] = Map(
    "spark.master" -> master,
    "spark.sql.shuffle.partitions" -> "1",
    "spark.databricks.delta.snapshotPartitions" -> "1",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.hadoop.fs.faulty.impl" -> classOf[FaultyFileSystem].getName,
    "spark.delta.logStore.faulty.impl" -> classOf[FaultyLogStore].getName
  )

  /** `all`: every operation fails in every way, which takes hours. `changes`: all that change
    * something or are the log store's, and some of those that read, which takes less than an hour.
    */
  private val mode: Option[String] = sys.env.get("ZCUBE_SWEEP")

  /** Where the results of kinds are kept. A kind that is there isn't swept again, so that a sweep
    * can be stopped and continued.
    */
  private val results: Option[SweepResults] =
    for (file <- sys.env.get("ZCUBE_SWEEP_RESULT"); m <- mode)
      yield new SweepResults(LocalPath.of(file), m)

  /** Whether all kinds of runs are swept. */
  protected val all: Boolean = mode.isDefined

  private val known = (0L until Rows).map(id => Seq(id, id * 7919 % 101, id % 2))

  private def template(kind: Kind): LocalPath = {
    val path = folder.resolve(s"template-${kind.name.hashCode}")
    val columns = Seq("id", "id * 7919 % 101 AS x", "id % 2 AS p")
    val target = s"delta.`$path`"
    spark.sql(s"CREATE TABLE $target (id BIGINT, x BIGINT, p BIGINT) USING delta ${kind.table}")
    for (start <- 0L until Rows by Rows / Appends) {
      val rows = spark.range(start, start + Rows / Appends, 1, 1).selectExpr(columns: _*)
      rows.write.format("delta").mode("append").save(path.toString)
    }
    path
  }

  /** The failing points of a run: all, or those of the commit itself and some of the others. */
  private def points(counts: Map[String, Int], faults: Seq[Fault.Value]): Seq[Faults.Point] = {
    val every = for {
      (kind, count) <- counts.toSeq.sorted
      number <- 1 to count
      fault <- faults
    } yield Faults.Point(kind, number, fault)
    if (mode.contains("all")) every
    else {
      val (reads, changes) = every.partition(point => Reads.contains(point.kind))
      val (commits, others) = changes.partition(_.kind == Commit)
      val random = new Random(15)
      if (all) changes ++ random.shuffle(reads).take(20 * SampledReads)
      else {
        commits ++ random.shuffle(others).take(SampledChanges) ++
          random.shuffle(reads).take(SampledReads)
      }
    }
  }

  /** Runs the statement of a kind on a copy of its table, with a failing operation. */
  private def run(kind: Kind, path: LocalPath, faults: Faults): Try[Unit] = Faults.watch(faults) {
    @volatile var end: Option[Try[Unit]] = None
    val statement = new Thread(() =>
      end = Some(Caught {
        val target = s"delta.`${FaultyFileSystem.Scheme}:$path`"
        spark.sql(s"OPTIMIZE $target ${kind.clause}").collect(): Unit
      }))
    statement.start()
    var waited = 0L
    while (end.isEmpty && waited < PatienceMs) {
      if (faults.hangs.await(5, TimeUnit.MILLISECONDS)) {
        statement.interrupt()
        statement.join(PatienceMs)
        waited = PatienceMs
      }
      waited += 5
    }
    end.getOrElse(fail(s"OPTIMIZE did not end: ${statement.getStackTrace.mkString("\n")}"))
  }

  private def requireKnown(rows: Seq[Seq[Long]]): Unit = {
    val _ = assert(rows.sortBy(_.head) === known)
  }

  /** @param unchanged what is in the files of the original table */
  private def check(
      kind: Kind,
      point: Faults.Point,
      original: LocalPath,
      unchanged: Map[String, Seq[Byte]]): String = {
    val number = copies.getAndIncrement()
    val path = folder.resolve(s"copy-$number")
    copy(original, path)
    val before = dataFiles(path.toString)
    val faults = new Faults(path.toString, Some(point))
    val end = run(kind, path, faults)
    assert(!faults.wasStuck, s"$point: the hang was not interrupted")
    val condition = end match {
      case Success(_) => "succeeded"
      case Failure(e: SparkThrowable) if e.getCondition != null => e.getCondition
      case Failure(e) => e.getClass.getSimpleName
    }
    withClue(s"${kind.name}, $point, $condition: ") {
      val table = new PlainTable(path)
      requireKnown(table.rows(Columns))
      val orphans =
        dataFiles(path.toString) -- before -- table.files.keys.map(_.split('/').last)
      if (!mayLeaveFiles(condition, point)) assert(orphans.isEmpty, "files are left")
      // Again, without faults. A table that is the same, byte by byte, was optimized without faults
      // before this sweep.
      if (contents(path) != unchanged) {
        spark.sql(s"OPTIMIZE delta.`$path` ${kind.clause}").collect()
        requireKnown(table.rows(Columns))
      }
      // By Delta too after each commit that failed, else now and then, since its reading takes longer
      // than all the rest. The period meets every way of failing, of which there are four.
      if (point.kind == Commit || number % 11 == 0) {
        val read = spark.read.format("delta").load(path.toString).collect().toSeq
        requireKnown(read.map(row => Seq(row.getLong(0), row.getLong(1), row.getLong(2))))
      }
      if (faults.wasMet) s"$condition${if (orphans.nonEmpty) ", files left" else ""}" else "not met"
    }
  }

  /** Files may be left if it is unknown whether they are live, or if removing them failed. */
  private def mayLeaveFiles(condition: String, point: Faults.Point): Boolean =
    condition == "ZCUBE_COMMIT_UNKNOWN" || point.kind == "delete"

  private def copy(from: LocalPath, to: LocalPath): Unit =
    walk(from).foreach(f => Files.copy(f, to.resolve(from.relativize(f).toString)))

  /** What is in each file. */
  private def contents(of: LocalPath): Map[String, Seq[Byte]] = walk(of)
    .filter(Files.isRegularFile(_))
    .map(file => of.relativize(file).toString -> Files.readAllBytes(file).toSeq)
    .toMap

  private def walk(of: LocalPath): Seq[LocalPath] =
    Using.resource(Files.walk(of))(_.iterator().asScala.toVector)

  private val copies = new AtomicInteger

  private def cpuTime: Long = ManagementFactory.getOperatingSystemMXBean match {
    case bean: com.sun.management.OperatingSystemMXBean => bean.getProcessCpuTime
    case _ => 0L
  }

  protected def sweep(kind: Kind, faults: Seq[Fault.Value] = Fault.values.toSeq): Unit =
    test(s"faults of an OPTIMIZE on $master: ${kind.name}") {
      results.flatMap(_.of(master, kind.name)) match {
        case Some(line) => info(s"swept before: $line")
        case None => sweepNow(kind, faults)
      }
    }

  private def sweepNow(kind: Kind, faults: Seq[Fault.Value]): Unit = {
    val original = template(kind)
    withSettings(kind.settings.toSeq: _*) {
      val clean = folder.resolve(s"clean-${copies.getAndIncrement()}")
      copy(original, clean)
      val none = new Faults(clean.toString, None)
      run(kind, clean, none).get
      val counts = none.counts
      DeltaLog.clearCache()
      val version = DeltaLog.forTable(spark, clean.toString).update().version
      assert(if (kind.commits == 1) version == Appends + 1 else version > Appends + 1)
      val swept = points(counts, faults)
      val unchanged = contents(original)
      val (startedAt, cpuAt) = (System.nanoTime(), cpuTime)
      val ends = swept.map { point =>
        point -> Caught(check(kind, point, original, unchanged)).recover { case e =>
          s"WRONG: $e"
        }.get
      }
      val wrong = ends.map(_._2).filter(_.startsWith("WRONG"))
      val result = SweepResults.Result(
        master,
        kind.name,
        swept.size,
        counts.values.sum * faults.size,
        ends.groupBy(_._2).collect { case (end, of) if !wrong.contains(end) => end -> of.size },
        counts,
        (System.nanoTime() - startedAt) / 1000000000,
        (cpuTime - cpuAt) / 1000000000
      )
      info(result.text)
      assert(wrong.isEmpty, wrong.mkString("\n", "\n", "\n"))
      // Checks that a run uses the store at all.
      assert(ends.count(_._2 != "not met") > swept.size / 2)
      assert(ends.exists(_._2.startsWith("succeeded")))
      assert(ends.exists(!_._2.startsWith("succeeded")))
      results.foreach(_.add(result))
    }
  }
}

private[zcube] object FaultSweep {

  /** A run: clauses of the table and of the statement, how many commits it makes, and the session's
    * settings.
    */
  final case class Kind(
      name: String,
      table: String,
      clause: String,
      commits: Int,
      settings: Map[String, String] = Map.empty)

  private val Batch = "spark.databricks.delta.optimize.batchSize" -> "1g"
  private val Cube = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize"

  private val Job = "spark.zcube.layout.maxJobBytes"

  /** Two files of the four fill a cube, which has a job of its own. */
  private val Small = Map(
    s"$Cube.threshold" -> "3000",
    s"$Cube.targetCubeSize" -> "3000",
    Job -> "3000")

  val ZOrderOne: Kind = Kind("ZORDER BY, one cube", "", "ZORDER BY (id, x)", 1)

  /** By one job and one commit, as small cubes are. */
  val ZOrderShared: Kind =
    Kind("ZORDER BY, two small cubes", "PARTITIONED BY (p)", "ZORDER BY (id, x)", 1)
  val ZOrderSeveral: Kind =
    ZOrderShared.copy(name = "ZORDER BY, two cubes", commits = 2, settings = Small)
  val ZOrderBatch: Kind =
    ZOrderSeveral.copy(
      name = "ZORDER BY, two cubes in one commit",
      commits = 1,
      settings = Map(Batch))
  val ClusteredOne: Kind = Kind("clustered, one cube", "CLUSTER BY (id, x)", "", 1)
  val ClusteredSeveral: Kind =
    ClusteredOne.copy(name = "clustered, two cubes", commits = 2, settings = Small)
  val ClusteredOneJob: Kind = ClusteredOne.copy(
    name = "clustered, two cubes by one job",
    settings = Small - Job)
  val ClusteredBatch: Kind = ClusteredOne.copy(
    name = "clustered, two cubes in one commit",
    settings = Small + Batch)

  private val Columns = Seq("id", "x", "p")
  private val Rows = 400L
  private val Appends = 4L

  /** Kinds of operations that change nothing and are not the log store's. */
  private val Reads = Set("open", "read", "list", "status")

  private val Commit = "log write"

  // The engine's own sweep, on a table in memory, fails every operation in every way (FaultsSuite).
  private val SampledChanges = 6

  private val SampledReads = 2

  private val PatienceMs = 90000L
}
