package org.apache.spark.sql.delta.zcube.merge

import java.nio.file.{Files, Path, Paths, StandardOpenOption}

import scala.jdk.CollectionConverters._

import io.delta.tables.DeltaTable
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.sql.conf.ZCubeConf

/** Random MERGEs on two copies of a table, one with pruning and one with plain Delta: the same
  * metrics and errors of each, and the same rows, row ids, and change rows of all versions: at the end,
  * whenever their files differ, and before most statements of other kinds. Then both go on with the same
  * files.
  * Three suites share the tables, because Delta's suites run in three JVMs.
  *
  * `ZCUBE_MERGES`: how many. `ZCUBE_MERGES_RESULT`: a file that gets a line for each table; tables
  * that are there aren't run again, so that a long run can be stopped and continued.
  */
abstract class RandomMergesSuite(part: Int) extends AnyFunSuite with MergeSession {
  import RandomMergesSuite._

  override protected def settings: Map[String, String] = super.settings ++ Seq(
    // No file is too small to be copied by a task of its own.
    "spark.sql.files.openCostInBytes" -> "0",
    "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled" -> "false"
  )

  private val merges = sys.env.get("ZCUBE_MERGES").fold(Merges)(_.toInt)
  private val results: Option[Path] = sys.env.get("ZCUBE_MERGES_RESULT").map(Paths.get(_))
  private val known: Set[Int] = results.filter(Files.exists(_)).fold(Set.empty[Int]) { file =>
    Files.readAllLines(file).asScala.flatMap(Seed.findFirstMatchIn(_).map(_.group(1).toInt)).toSet
  }

  private var read = 0L
  private var plain = 0L
  private var fewer = 0
  private var failed = 0
  private var leftOut = 0
  private var copied = 0
  private var byFile = 0
  private var inCubes = 0

  private val tables = (0 until (merges + PerTable - 1) / PerTable).filter(_ % Parts == part)

  for (seed <- tables if !known(seed))
    test(s"$PerTable merges into table $seed") {
      val before = (read, plain, fewer, failed)
      run(seed)
      results.foreach { file =>
        val line = s"""{"table": $seed, "merges": $PerTable, "fewer": ${fewer - before._3}, """ +
          s""""read": ${read - before._1}, "of": ${plain - before._2}, "errors": ${failed - before._4}}"""
        Files.write(
          file,
          java.util.List.of(line),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND)
      }
    }

  private def make(of: RandomMerges): String = {
    val path = newPath()
    // Not by SQL, which has no generated columns on Spark 4.1 and older.
    val columns = DeltaTable.create(spark).location(path)
      .addColumns(StructType.fromDDL(of.columns))
      .addColumn(DeltaTable.columnBuilder(spark, "g").dataType("BIGINT")
        .generatedAlwaysAs("id * 2").build())
    val table =
      if (!of.hasIdentity) columns
      else {
        columns.addColumn(DeltaTable.columnBuilder(spark, "number").dataType("BIGINT")
          .generatedAlwaysAsIdentity(1L, 1L).build())
      }
    of.properties.foldLeft(table.partitionedBy(of.partitions: _*)) {
      case (made, (key, value)) => made.property(key, value)
    }.execute()
    spark.range(0, RandomMerges.Rows.toLong, 1, 1).selectExpr(of.rows: _*)
      .repartitionByRange(of.files, col("id"))
      .write.format("delta").mode("append").save(path)
    path
  }

  /** What the log says of the files' rows. */
  private def contentsOf(path: String): Seq[String] =
    DeltaLog.forTable(spark, path).update().allFiles.collect().toSeq.map(file =>
      s"${file.partitionValues} ${file.stats} ${Option(file.deletionVector).map(_.cardinality)} " +
        Option(file.tags).exists(_.contains(AddFile.tag(AddFile.Tags.ZCUBE_ID))))
      .sorted

  private def run(seed: Int): Unit = {
    val random = new RandomMerges(seed)
    val one = make(random)
    var other = copyOf(one)
    // Identities depend on which task writes a row.
    val (hidden, tracked) =
      (random.hasIdentity, random.properties.contains("delta.enableRowTracking" -> "true"))
    val done = Seq.newBuilder[RandomMerges.Merge]
    // The first version whose change rows haven't been compared yet.
    var from = 1L
    def compareRows(): Unit = {
      val Seq(pruned, unpruned) = Seq(one, other).map(path =>
        rowsOf(path, hidden, tracked) ++ changesOf(path, from, hidden))
      if (pruned != unpruned) {
        fail(
          s"table $seed: ${done.result().mkString("\n")}: ${pruned.diff(unpruned)} instead of " +
            s"${unpruned.diff(pruned)}")
      }
    }

    /** Both go on with the same files. */
    def startAgain(): Unit = {
      deleteAll(Paths.get(other))
      other = copyOf(one)
      from = versionOf(one) + 1
    }
    for (number <- 0 until PerTable) {
      random.between().foreach { statement =>
        // A copy takes less time than the statement. Where the logs differ, it would hide that from the next MERGE.
        val once = contentsOf(one) == contentsOf(other)
        val targets = if (once) Seq(one) else Seq(one, other)
        if (once && Seq(one, other).exists(versionOf(_) >= from)) compareRows()
        targets.foreach(path => spark.sql(statement(s"delta.`$path`")).collect())
        if (once) startAgain()
      }
      val next = random.next()
      val source = next.from match {
        case RandomMerges.FromQuery => next.source
        case from =>
          val of = newPath()
          spark.sql(next.source).write.format("delta").save(of)
          if (from == RandomMerges.FromTable) s"SELECT * FROM delta.`$of`"
          else {
            spark.sql(s"CREATE OR REPLACE TEMP VIEW of_source AS SELECT * FROM delta.`$of`")
            "SELECT * FROM of_source"
          }
      }
      def merge(path: String): Unit = spark.sql(
        s"MERGE INTO delta.`$path` t USING ($source) s ON ${next.on} ${next.clauses}").collect(): Unit
      done += next
      val clue = s"table $seed (${random.columns}, ${random.properties}), merge $number: $next"
      withSettings(
        "spark.databricks.delta.schema.autoMerge.enabled" -> next.evolves.toString,
        "spark.sql.autoBroadcastJoinThreshold" -> random.broadcastBytes.toString
      ) {
        var pruned = Outcome.nothing
        val lines = LogLines.of("io.zcube.merge") {
          pruned = reportOf(one, merge)
        }
        val isLeftOut = lines.exists(_.contains(MatchingRowsSuite.LeftOut))
        val isCopied = lines.exists(_.contains(SplitOuterJoinSuite.Copied))
        if (isLeftOut) leftOut += 1
        if (isCopied) copied += 1
        val isByFile = lines.exists(_.contains(CopiedFilesSuite.ByFile))
        if (isByFile) byFile += 1
        if (lines.exists(_.contains("belong to the cubes"))) inCubes += 1
        val unpruned = withSettings(ZCubeConf.MergeIntoPruning.key -> "false")(
          reportOf(other, merge))
        assert(pruned.error == unpruned.error, clue)
        assert(pruned.figures == unpruned.figures, clue)
        assert(pruned.parameters == unpruned.parameters, clue)
        if (pruned.error.isEmpty) assert(pruned.read >= 0 && unpruned.read >= 0, clue)
        assert(pruned.read <= unpruned.read, clue)
        read += pruned.read
        plain += unpruned.read
        if (pruned.read < unpruned.read) fewer += 1
        if (pruned.error.nonEmpty) failed += 1
        // Which files such a MERGE writes isn't Delta's, and later figures depend on it. Where the log knows
        // few columns, it doesn't tell.
        val isKnown = random.properties.contains("delta.dataSkippingNumIndexedCols" -> "32")
        val mayDiffer =
          isLeftOut || isCopied || isByFile || pruned.filesAdded != unpruned.filesAdded
        if (mayDiffer && !(isKnown && contentsOf(one) == contentsOf(other))) {
          compareRows()
          startAgain()
        }
      }
    }
    compareRows()
    Seq(one, other).foreach(path => deleteAll(Paths.get(path)))
  }

  if (tables.nonEmpty) test("many of them read fewer files than Delta, and some fail") {
    val merges = tables.size * PerTable
    info(s"$merges merges, fewer files in $fewer, $read files of $plain, $failed errors, " +
      s"$leftOut without rows that match nothing, $copied that copied them without a join, " +
      s"$byFile with a task for each file, $inCubes that left files in cubes")
    // Of few, it may be none.
    if (known.isEmpty && merges >= 80) {
      assert(fewer >= merges / 5)
      assert(failed > 0)
      assert(leftOut > 0)
      assert(copied > 0 || merges < 150)
      assert((inCubes > 0 && byFile > 0) || merges < 1000)
    }
  }
}

class FirstRandomMergesSuite extends RandomMergesSuite(0)

class SecondRandomMergesSuite extends RandomMergesSuite(1)

class ThirdRandomMergesSuite extends RandomMergesSuite(2)

object RandomMergesSuite {

  private val Parts = 3

  /** Without `ZCUBE_MERGES`. */
  private val Merges = if (Night.all) 1000 else 500

  private val PerTable = 10

  private val Seed = "\"table\": (\\d+)".r
}
