package io.zcube.clustering.advise

import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.OptimizeSettings
import io.zcube.clustering.run.LayoutSession
import io.zcube.clustering.table.{ColumnPath, TableVersion, WhereClause}
import io.zcube.planning.DataFile
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.predicates.{PredicateBoxes, PredicateReader}
import io.zcube.sql.sampling.{RowSample, SampleLimits}
import io.zcube.sql.simulation.EncodedSample

/** Recommends columns and a curve for a table and some queries: it finds the columns that they
  * filter by, takes one sample of these columns, and tries layouts on it.
  *
  * @param settings the settings of the runs that would create the layout
  * @param queries the queries, as the optimizer understood them
  */
final class Advisor(
    session: ClassicSession,
    version: TableVersion,
    settings: OptimizeSettings,
    queries: Seq[AnalyzedQuery]) {
  import Advisor._

  private val resolver = session.sessionState.conf.resolver
  private val selection = version.select(WhereClause.Everything)
  private val files = selection.files(layout = None)
  private val bytes = files.map(_.storedBytes).sum
  private val partitions = version.partitionColumns

  /** Columns that queries filter by, and partition columns. */
  private val columns: IndexedSeq[ColumnPath] = {
    val filtered =
      queries.flatMap(_.compared).flatMap(scan => PredicateReader.paths(scan.condition)).distinct
    (filtered ++ partitions.map(Seq(_)))
      .flatMap(version.column(_, resolver))
      .distinct
      .filter(column => RowOrdering.isOrderable(column.dataType))
      .toIndexedSeq
  }

  private val isPartition: Int => Boolean = c => partitions.contains(columns(c).logical.head)

  private val withMinima: Set[ColumnPath] = columns.filter(version.hasMinima).toSet

  private def hasMinima(column: Int): Boolean = isPartition(column) || withMinima(columns(column))

  /** The result rows, the best layout first. */
  def rows: Seq[Row] = {
    val reader = new PredicateReader(columns.map(_.logical))
    val read = queries.map { query =>
      val scans = query.compared.map(scan => reader.read(scan.condition))
      val unknown = scans.flatMap(_.boxes.flatMap(_.keys)).distinct.filterNot(hasMinima)
      val notes = scans.flatMap(_.ignored).distinct.map(part => s"counts as true: $part") ++
        unknown.map(c => s"no layout helps with ${columns(c).name}, which has no statistics") ++
        Option.when(query.compared.size < query.scans.size)(
          "a scan that its LIMIT ends early isn't counted")
      query.copy(notes = query.notes ++ notes) -> scans.map(onlyWithMinima)
    }
    val understood = read.filter(_._1.scans.nonEmpty)
    val workload = understood.map { case (query, boxes) => query.weight -> boxes }
    val clusterable =
      columns.indices.filter(c => !isPartition(c) && withMinima(columns(c)))
    val asking = clusterable.map(c =>
      c -> workload.collect {
        case (weight, scans) if scans.exists(_.boxes.exists(_.contains(c))) => weight
      }.sum).filter(_._2 > 0).toMap
    val trials =
      if (asking.isEmpty || files.isEmpty) Nil
      else {
        val sample = sampleOf()
        if (sample.rowCount == 0) Nil
        else {
          val trials = new LayoutEvaluator(
            EncodedSample.of(sample),
            columns.indices.filter(isPartition),
            bytes,
            sample.rowCount,
            settings,
            workload)
          new LayoutSearch(asking.keys.toSeq.sorted, asking, trials.run).run()
        }
      }
    new RecommendationReport(
      described,
      read.map(_._1),
      trials,
      ZCubeConf.curve(session.sessionState.conf)).rows
  }

  /** A forecast doesn't count on files of only NULLs, which are all that conditions on a column without
    * minima may skip.
    */
  private def onlyWithMinima(predicate: PredicateBoxes): PredicateBoxes =
    predicate.skippable(hasMinima, hasNullCounts = _ => false)

  private def described: RecommendationReport.Table =
    RecommendationReport.Table(
      ColumnPath.quoted(version.table.nameParts),
      files.size.toLong,
      bytes,
      version.takesClusteringColumns,
      columns,
      version.clusteringColumns)

  private def sampleOf(): RowSample = {
    val table = version.table.name
    try
      LayoutSession.using(session, version)(reading =>
        Sessions.within(reading)(sample(reading, s"$table: RECOMMEND CLUSTERING: sampling")))
    catch { case e: SparkException => throw ZCubeErrors.sampleFailed(table, e) }
  }

  private def sample(reading: ClassicSession, what: String): RowSample = {
    val wanted = bytes / settings.plan.targetFileBytes * RowsPerFile
    val limits = SampleLimits.ofRows(math.min(MaxRows, math.max(MinRows, wanted)).toInt)
    selection.scan(reading, files)
      .sample(reading, columns, DataFile.rowsOf(files), limits, what)
  }
}

object Advisor {

  /** Rows sampled for each file: fewer than in a run, because there are many layouts to try. */
  private val RowsPerFile = 200L
  private val MinRows = 20000L
  private val MaxRows = 200000L
}
