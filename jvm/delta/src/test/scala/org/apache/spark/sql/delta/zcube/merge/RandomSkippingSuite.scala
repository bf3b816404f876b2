package org.apache.spark.sql.delta.zcube.merge

import java.net.URI
import java.nio.file.Paths

import scala.util.Try

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences, Expression, JoinedRow, Predicate}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSource.MergeSource
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSourceReason.MATERIALIZE_ALL
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** A MERGE never skips a file with a match by its source's keys. Random conditions are planned, and
  * evaluated for each pair of rows by Spark's interpreter, so a case takes a fifth of a second; those
  * of [[RandomMergesSuite]] are run as a whole, which takes 25 times as long.
  *
  * `ZCUBE_CONDITIONS`: how many; `ZCUBE_CONDITIONS_FROM`: the first table.
  */
class RandomSkippingSuite extends AnyFunSuite with MergeSession {
  import RandomSkippingSuite._

  private val conditions = sys.env.get("ZCUBE_CONDITIONS").fold(Conditions)(_.toInt)
  private val from = sys.env.get("ZCUBE_CONDITIONS_FROM").fold(0)(_.toInt)

  private lazy val session = spark.asInstanceOf[SparkSession]
  private var figures = Figures()

  for (seed <- from until from + conditions / PerTable)
    test(s"$PerTable conditions on table $seed") {
      val random = new RandomSkipping(seed)
      withSettings(
        "spark.sql.session.timeZone" -> random.zone,
        "spark.sql.ansi.enabled" -> random.ansi.toString) {
        val path = make(random)
        val target = rowsByFile(path)
        for (number <- 0 until PerTable) {
          val (source, on) = (random.source(), random.on())
          val clue = s"table $seed (${random.properties}, ${random.zone}, ANSI: ${random.ansi}), " +
            s"condition $number: $on, of $source"
          check(path, target, source, on, clue)
        }
        deleteAll(Paths.get(path))
      }
    }

  test("many of them skip files") {
    info(s"$conditions conditions: $figures")
    assert(figures.fewer >= conditions / 4)
  }

  private def make(of: RandomSkipping): String = {
    val path = newPath()
    val columns = RandomSkipping.Columns.map(c => s"${c.name} ${c.dataType}").mkString(", ")
    val partitions = if (of.isPartitioned) "PARTITIONED BY (p)" else ""
    val properties = of.properties.map { case (key, value) => s"'$key' = '$value'" }.mkString(", ")
    spark.sql(s"CREATE TABLE delta.`$path` ($columns) USING delta $partitions " +
      s"TBLPROPERTIES ($properties)")
    for (part <- of.parts)
      withSettings(
        "spark.databricks.delta.stats.collect" -> (!part.lacksStatistics).toString,
        "spark.sql.ansi.enabled" -> "false") {
        spark.range(part.from.toLong, part.until.toLong, 1, 1)
          .selectExpr(RandomSkipping.Columns.map(_.definition): _*)
          .repartitionByRange(part.files, col(part.by))
          .write.format("delta").mode("append").save(path)
      }
    if (of.hasDeletedRows) spark.sql(s"DELETE FROM delta.`$path` WHERE id % 23 = 5"): Unit
    path
  }

  /** The table's rows, each with its file's name as one more column. */
  private def rowsByFile(path: String): Map[String, Seq[InternalRow]] = {
    val names = RandomSkipping.Columns.map(_.name)
    val rows =
      spark.read.format("delta").load(path).selectExpr(names :+ "_metadata.file_path": _*)
    collect(rows.queryExecution.analyzed).groupBy(row => nameOf(row.getString(names.size)))
  }

  private def collect(plan: LogicalPlan): Seq[InternalRow] =
    Sessions.rowsOf(session, plan).queryExecution.toRdd.map(_.copy()).collect().toSeq

  private def check(
      path: String,
      target: Map[String, Seq[InternalRow]],
      source: String,
      on: String,
      clue: String): Unit = {
    val merge =
      s"MERGE INTO delta.`$path` t USING ($source) s ON $on WHEN MATCHED THEN DELETE"
    Try(optimized(merge)).toOption.map {
      case merge: PrunedMergeIntoCommand => matchesOf(merge, target).map { matching =>
          val read = filesRead(merge, path)
          assert(matching.subsetOf(read), clue)
          Figures(1, if (read.size < target.size) 1 else 0, matching.size, read.size, target.size)
        }
      // Nothing that statistics could be compared with.
      case _ => Some(Figures())
    }.flatten match {
      case Some(more) => figures = figures + more
      case None => figures = figures + Figures(failed = 1)
    }
  }

  private def optimized(statement: String): LogicalPlan = session.sessionState
    .executePlan(session.sessionState.sqlParser.parsePlan(statement), CommandExecutionMode.SKIP)
    .optimizedPlan

  /** The files with a match. None if the condition fails for some pair, as with ANSI's casts. */
  private def matchesOf(
      merge: PrunedMergeIntoCommand,
      target: Map[String, Seq[InternalRow]]): Option[Set[String]] = {
    val file = AttributeReference("file", StringType)()
    val columns = (merge.target.output :+ file) ++ merge.source.output
    val on =
      Predicate.createInterpreted(BindReferences.bindReference(merge.condition, columns))
    val source = collect(merge.source)
    Try(target.collect {
      case (name, rows) if rows.exists(row => source.exists(s => on.eval(new JoinedRow(row, s)))) =>
        name
    }.toSet).toOption
  }

  private def filesRead(merge: PrunedMergeIntoCommand, path: String): Set[String] = {
    val source = MergeSource(
      Sessions.rowsOf(session, merge.source),
      isMaterialized = true,
      MATERIALIZE_ALL)
    val log = DeltaLog.forTable(spark, path)
    val predicates: Seq[Expression] = log.withNewTransaction(None) { txn =>
      val keys = new MergeKeys(session, source, None, merge)
      new MergePruning(session, merge, txn, keys, new MergeLog("t")).predicates
    }
    log.update().filesForScan(predicates, keepNumRecords = false).files
      .map(file => nameOf(file.path)).toSet
  }
}

object RandomSkippingSuite {
  private val Conditions = if (Night.all) 2000 else 150
  private val PerTable = 25

  private def nameOf(path: String): String = new URI(path).getPath.split('/').last

  /** @param keys     conditions with keys to skip files by
    * @param fewer    those of them that skip files
    * @param matching files with a match
    * @param read     files that are read
    * @param all      files of the tables
    * @param failed   conditions that can't be evaluated
    */
  private case class Figures(
      keys: Int = 0,
      fewer: Int = 0,
      matching: Int = 0,
      read: Int = 0,
      all: Int = 0,
      failed: Int = 0) {
    def +(other: Figures): Figures = Figures(
      keys + other.keys,
      fewer + other.fewer,
      matching + other.matching,
      read + other.read,
      all + other.all,
      failed + other.failed)
  }
}
