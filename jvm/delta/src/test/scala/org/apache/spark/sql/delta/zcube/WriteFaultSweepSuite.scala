package org.apache.spark.sql.delta.zcube

import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.atomic.AtomicInteger

import scala.util.{Failure, Success}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.declare.PreservedColumns
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.Caught

/** Writes to a clustered table, each time with a different operation of its store failing, then
  * repeated by the same transaction id. The checks read the plain disk, bypassing the faulty store.
  */
class WriteFaultSweepSuite extends AnyFunSuite with FaultyTables {
  import WriteFaultSweepSuite._

  private val numbers = new AtomicInteger

  /** The rows that are there before, and those that are written. */
  private val (old, more) = (0L until 20L, 100L until 110L)

  private def rows(ids: Seq[Long]): DataFrame =
    spark.range(ids.head, ids.last + 1, 1, 1).selectExpr(Select: _*)

  private lazy val template: LocalPath = {
    val path = folder.resolve("template")
    spark.sql(s"CREATE TABLE delta.`$path` (a BIGINT, b BIGINT) USING delta CLUSTER BY (a)")
    old.grouped(10).foreach(ids =>
      rows(ids).write.format("delta").mode("append").save(path.toString))
    path
  }

  private def saved(mode: String) =
    rows(more).write.format("delta").mode(mode).options(Once)

  /** An INSERT OVERWRITE with the session's transaction settings. */
  private def insertOverwrite(path: String): Unit = {
    val settings = Once.map { case (key, value) => s"spark.databricks.delta.write.$key" -> value }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    val select = Select.mkString(", ")
    try spark.sql(s"INSERT OVERWRITE delta.`$path` SELECT $select FROM " +
        s"range(${more.head}, ${more.last + 1}, 1, 1)"): Unit
    finally settings.keys.foreach(spark.conf.unset)
  }

  /** Each with what must be there afterwards, and whether the table exists before. */
  private val writes = Seq[(String, Seq[Long], Boolean, String => Unit)](
    ("save, append, clusterBy", old ++ more, true, saved("append").clusterBy("a").save(_)),
    ("save, append, clusterBy, new table", more, false, saved("append").clusterBy("a").save(_)),
    ("save, overwrite", more, true, saved("overwrite").save(_)),
    ("save, overwrite, clusterBy", more, true, saved("overwrite").clusterBy("a").save(_)),
    ("INSERT OVERWRITE", more, true, insertOverwrite),
    (
      "writeTo, overwritePartitions",
      more,
      true,
      path => rows(more).writeTo(s"delta.`$path`").options(Once).overwritePartitions())
  )

  private def newTarget(exists: Boolean): LocalPath = {
    val path = folder.resolve(s"target-${numbers.getAndIncrement()}")
    if (exists) copy(template, path)
    path
  }

  private def onDisk(path: LocalPath): Seq[Long] =
    if (!Files.exists(path.resolve("_delta_log"))) Nil
    else {
      val rows = new PlainTable(path).rows(Seq("a", "b")).sortBy(_.head)
      assert(rows.forall(row => row(1) == row.head % 2))
      rows.map(_.head)
    }

  /** How the write ended, after all checks. */
  private def check(
      write: String => Unit,
      expected: Seq[Long],
      exists: Boolean,
      point: Faults.Point): String = {
    val path = newTarget(exists)
    val before = onDisk(path)
    val faults = new Faults(path.toString, Some(point))
    val end = endOf(faults)(write(s"${FaultyFileSystem.Scheme}:$path"))
    // A task of Delta's write isn't interrupted.
    faults.release()
    val name = end match {
      case Success(_) => "succeeded"
      case Failure(e) => e.getClass.getSimpleName
    }
    withClue(s"$point, $name: ") {
      val found = onDisk(path)
      assert(found === expected || end.isFailure && found === before)
      // By the path without faults, so that nothing is cached.
      write(path.toString)
      assert(onDisk(path) === expected)
      if (point.kind == SweepPoints.Commit) {
        DeltaLog.clearCache()
        val read = spark.read.format("delta").load(path.toString).collect()
        assert(read.map(_.getLong(0)).sorted.toSeq === expected)
        assert(PreservedColumns.of(DeltaLog.forTable(spark, path.toString).update()) === Seq("a"))
      }
      if (!faults.wasMet) "not met"
      else if (end.isFailure && found == expected && expected != before) s"$name, but written"
      else name
    }
  }

  /** Without a mode, a third of the others for each write, so that each is in some write's part. Each
    * failing commit that isn't a hang is in `ClusteredWriteSuite` too.
    */
  private def part(every: Seq[Faults.Point], turn: Int): Seq[Faults.Point] = {
    val (commits, others) = points.sampled(every).partition(_.kind == SweepPoints.Commit)
    if (mode.isDefined) commits ++ others
    else {
      commits.filter(point => Set(Fault.After, Fault.Hang)(point.fault)) ++
        others.zipWithIndex.collect { case (point, i) if i % 3 == turn % 3 => point }
    }
  }

  for {
    ((name, expected, exists, write), turn) <- writes.zipWithIndex
    if mode.isDefined || Night.all || name == "INSERT OVERWRITE"
  } test(s"faults of a clustered write, then the same again: $name") {
    results.flatMap(_.of("local[2]", name)) match {
      case Some(line) => cancel(s"swept before: $line")
      case None =>
        val clean = newTarget(exists)
        val none = new Faults(clean.toString, None)
        endOf(none)(write(s"${FaultyFileSystem.Scheme}:$clean")).get
        assert(onDisk(clean) === expected)
        val every = points.all(none.counts, Fault.values.toSeq)
        val swept = part(every, turn)
        val watch = new Stopwatch
        val ends = swept.map(point =>
          Caught(check(write, expected, exists, point)).recover { case e =>
            s"WRONG: $e"
          }.get)
        val wrong = ends.filter(_.startsWith("WRONG"))
        val result = SweepResults.Result(
          "local[2]",
          name,
          swept.size,
          every.size,
          ends.filterNot(wrong.contains).groupBy(identity).transform((_, of) => of.size),
          none.counts,
          watch.seconds,
          watch.cpuSeconds
        )
        info(result.text)
        assert(wrong.isEmpty, wrong.mkString("\n", "\n", "\n"))
        assert(ends.count(_ != "not met") > swept.size / 2)
        assert(ends.exists(_.endsWith("but written")))
        results.foreach(_.add(result))
    }
  }
}

private[zcube] object WriteFaultSweepSuite {
  private val Once = Map("txnAppId" -> "app", "txnVersion" -> "1")

  private val Select = Seq("id AS a", "id % 2 AS b")
}
