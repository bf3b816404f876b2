package io.zcube.clustering.advise

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zcube.ByteText

import io.zcube.clustering.table.ColumnPath
import io.zcube.layout.kinds.LayoutKind

/** The rows of RECOMMEND CLUSTERING: the table as it is, then the layouts, the best first.
  *
  * @param defaultCurve of runs without OPTIONS
  */
final class RecommendationReport(
    table: RecommendationReport.Table,
    queries: Seq[AnalyzedQuery],
    trials: Seq[LayoutCost],
    defaultCurve: LayoutKind) {
  import RecommendationReport._

  private val understood = queries.filter(_.scans.nonEmpty)
  private val filesToday = understood.map(q => q.weight * q.files).sum
  private val bytesToday = understood.map(q => q.weight * q.bytes).sum

  def rows: Seq[Row] = today +: trials.take(Shown).zipWithIndex.map { case (trial, i) =>
    recommended(trial, i + 1)
  }

  private def today: Row = {
    val best = trials.headOption.map(_.bytesRead)
    val verdict =
      if (table.files == 0) "the table has no files yet"
      else if (trials.isEmpty)
        "no query filters by a column that the table could be clustered by: clustering " +
          "isn't worth it"
      else if (!best.exists(isWorthIt)) "clustering isn't worth it for these queries"
      else "clustering is worth it for these queries"
    val each = queries.map(q => queryRow(q, q.files, q.bytes))
    Row(
      0,
      null,
      null,
      null,
      filesToday,
      bytesToday,
      1.0,
      table.files,
      null,
      false,
      s"as it is, the queries read ${ByteText.of(bytesToday.round)}; $verdict",
      Nil,
      each
    )
  }

  private def recommended(trial: LayoutCost, rank: Int): Row = {
    val columns = trial.candidate.columns.map(table.columns)
    val share = if (bytesToday == 0) 1.0 else trial.bytesRead / bytesToday
    val name =
      s"by (${columns.map(_.name).mkString(", ")}), ${trial.candidate.curve.name}${weightsText(trial)}"
    val verdict =
      if (!isWorthIt(trial.bytesRead)) "; not worth it"
      // Otherwise it is what runs without OPTIONS make too.
      else if (trial.candidate.weights.nonEmpty || trial.candidate.curve != defaultCurve)
        "; later runs need the same OPTIONS"
      else ""
    val summary = s"$name: reads ${percent(share)} % of the bytes that it reads today; costs one " +
      s"rewrite of ${ByteText.of(table.bytes)}$verdict"
    val byQuery = understood.zip(trial.each).map { case (query, (files, bytes)) =>
      queryRow(query, files, bytes)
    }
    Row(
      rank,
      columns.map(_.name),
      trial.candidate.curve.name,
      weights(trial).toMap,
      trial.filesRead,
      trial.bytesRead,
      share,
      trial.files.toLong,
      table.bytes,
      isWorthIt(trial.bytesRead),
      summary,
      statements(trial, columns),
      byQuery
    )
  }

  private def queryRow(query: AnalyzedQuery, files: Long, bytes: Long): Row =
    Row(query.text, query.weight, query.scans.size, files, bytes, query.notes)

  private def isWorthIt(bytesRead: Double): Boolean =
    bytesToday > 0 && bytesRead <= bytesToday * (1 - WorthIt)

  private def percent(share: Double): String =
    if (share < 0.1) f"${share * 100}%.1f" else f"${share * 100}%.0f"

  private def weights(trial: LayoutCost): Seq[(String, Double)] =
    trial.candidate.columns.map(table.columns(_).name).zip(trial.candidate.weights)

  private def weightsText(trial: LayoutCost): String =
    if (trial.candidate.weights.isEmpty) ""
    else weights(trial).map { case (c, w) => s"$c=$w" }.mkString(" with weights ", ", ", "")

  private def statements(trial: LayoutCost, columns: Seq[ColumnPath]): Seq[String] = {
    val curve = Seq(s"'curve' = '${trial.candidate.curve.name}'")
    val weighted = Option.when(trial.candidate.weights.nonEmpty)(
      s"'weights' = '${weights(trial).map { case (c, w) => s"$c=$w" }.mkString(",").replace("'", "''")}'")
    val options = s"OPTIONS (${(curve ++ weighted).mkString(", ")})"
    val by = s"(${columns.map(_.name).mkString(", ")})"
    if (table.takesClusteringColumns) {
      val change = Option.when(columns != table.clusteringColumns)(
        s"ALTER TABLE ${table.sql} CLUSTER BY $by")
      change.toSeq :+ s"OPTIMIZE ${table.sql} FULL $options"
    } else Seq(s"OPTIMIZE ${table.sql} ZORDER BY $by $options")
  }
}

object RecommendationReport {

  /** The maximum number of layouts reported. */
  private val Shown = 10

  /** The minimum share of the bytes read that must be saved. */
  private val WorthIt = 0.1

  /** @param sql               the table's name in SQL
    * @param columns           the columns, by their numbers in candidates
    * @param clusteringColumns empty if it isn't clustered
    */
  final case class Table(
      sql: String,
      files: Long,
      bytes: Long,
      takesClusteringColumns: Boolean,
      columns: IndexedSeq[ColumnPath],
      clusteringColumns: Seq[ColumnPath])

  private val Query = new StructType()
    .add("query", StringType, nullable = false)
    .add("weight", DoubleType, nullable = false)
    .add("scans", IntegerType, nullable = false)
    .add("files_read", LongType, nullable = false)
    .add("bytes_read", LongType, nullable = false)
    .add("notes", ArrayType(StringType, containsNull = false), nullable = false)

  val schema: StructType = new StructType()
    .add("rank", IntegerType, nullable = false)
    .add("columns", ArrayType(StringType, containsNull = false))
    .add("curve", StringType)
    .add("weights", MapType(StringType, DoubleType, valueContainsNull = false))
    .add("files_read", DoubleType, nullable = false)
    .add("bytes_read", DoubleType, nullable = false)
    .add("share_of_today", DoubleType, nullable = false)
    .add("files", LongType, nullable = false)
    .add("bytes_rewritten", LongType)
    .add("worthwhile", BooleanType, nullable = false)
    .add("summary", StringType, nullable = false)
    .add("statements", ArrayType(StringType, containsNull = false), nullable = false)
    .add("queries", ArrayType(Query, containsNull = false), nullable = false)
}
