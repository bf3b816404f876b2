package org.apache.spark.sql.delta.zcube

import java.nio.file.{Path => LocalPath}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.delta.DeltaLog
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Caught

/** Runs an OPTIMIZE repeatedly, and each time a different operation of its store fails. The checks
  * afterwards read the plain disk, bypassing the faulty store.
  */
abstract private[zcube] class FaultSweep extends AnyFunSuite with FaultyTables {
  import FaultSweep._

  /** The master in Spark's form. */
  protected def master: String

  override protected def settings: Map[String, String] =
    super.settings + ("spark.master" -> master)

  /** Whether all kinds of runs are swept. */
  protected val all: Boolean = mode.isDefined

  private val known = (0L until Rows).map(id => Seq(id, id * 7919 % 101, id % 2))

  /** The rows of a table, in order, with the partition's number as p. */
  private def rowsOf(table: PlainTable, kind: Kind): Seq[Seq[Long]] =
    table.rows(Columns, p => kind.partitions.indexOf(p).toLong)

  private def template(kind: Kind): LocalPath = {
    val path = folder.resolve(s"template-${kind.name.hashCode}")
    val target = s"delta.`$path`"
    val Seq(even, odd) =
      kind.partitions.map(Option(_).fold("NULL")(p => s"'${p.replace("'", "\\'")}'"))
    val p = s"CAST(if(id % 2 = 0, $even, $odd) AS ${kind.partitionType}) AS p"
    val columns = Seq("id", "id * 7919 % 101 AS x", p)
    spark.sql(
      s"CREATE TABLE $target (id BIGINT, x BIGINT, p ${kind.partitionType}) USING delta ${kind.table}")
    for (start <- 0L until Rows by Rows / Appends) {
      val rows = spark.range(start, start + Rows / Appends, 1, 1).selectExpr(columns: _*)
      rows.write.format("delta").mode("append").save(path.toString)
    }
    path
  }

  /** Runs the statement of a kind on a copy of its table, with a failing operation. */
  private def run(kind: Kind, path: LocalPath, faults: Faults): Try[Unit] = endOf(faults) {
    val target = s"delta.`${FaultyFileSystem.Scheme}:$path`"
    spark.sql(s"OPTIMIZE $target ${kind.clause}").collect(): Unit
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
      requireKnown(rowsOf(table, kind))
      val orphans =
        dataFiles(path.toString) -- before -- table.files.keys.map(_.split('/').last)
      if (!mayLeaveFiles(condition, point)) assert(orphans.isEmpty, "files are left")
      // Again, without faults. A table that is the same, byte by byte, was optimized without faults
      // before this sweep.
      if (contents(path) != unchanged) {
        spark.sql(s"OPTIMIZE delta.`$path` ${kind.clause}").collect()
        requireKnown(rowsOf(table, kind))
      }
      // By Delta too after each commit that failed, else now and then, since its reading takes longer
      // than all the rest. The period meets every way of failing, of which there are four or five.
      if (point.kind == SweepPoints.Commit || number % 11 == 0) {
        val read = spark.read.format("delta").load(path.toString).collect().toSeq
        requireKnown(read.map(row =>
          Seq(
            row.getLong(0),
            row.getLong(1),
            kind.partitions.indexOf(Option(row.get(2)).map(_.toString).orNull).toLong)))
      }
      if (faults.wasMet) s"$condition${if (orphans.nonEmpty) ", files left" else ""}" else "not met"
    }
  }

  /** Files may be left if it is unknown whether they are live, or if removing them failed. */
  private def mayLeaveFiles(condition: String, point: Faults.Point): Boolean =
    condition == "ZCUBE_COMMIT_UNKNOWN" || point.kind == "delete"

  private val copies = new AtomicInteger

  protected def sweep(kind: Kind, faults: Seq[Fault.Value] = Fault.values.toSeq): Unit =
    test(s"faults of an OPTIMIZE on $master: ${kind.name}") {
      results.flatMap(_.of(master, kind.name)) match {
        case Some(line) => cancel(s"swept before: $line")
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
      val every = points.all(counts, faults)
      val swept = points.sampled(every)
      val unchanged = contents(original)
      val watch = new Stopwatch
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
        every.size,
        ends.groupBy(_._2).collect { case (end, of) if !wrong.contains(end) => end -> of.size },
        counts,
        watch.seconds,
        watch.cpuSeconds
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

  /** A run: clauses of the table and of the statement, how many commits it makes, the session's
    * settings, and the values of p, as texts.
    */
  final case class Kind(
      name: String,
      table: String,
      clause: String,
      commits: Int,
      settings: Map[String, String] = Map.empty,
      partitionType: String = "BIGINT",
      partitions: Seq[String] = Seq("0", "1"))

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

  /** The folders' names are escaped, and their names in the log once more. */
  val ZOrderEscaped: Kind = ZOrderShared.copy(
    name = "ZORDER BY, partitions whose names are escaped",
    partitionType = "STRING",
    partitions = Seq("a%20b: c/d=\u00e9'#?", null))
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
}
