package io.zcube.clustering.advise

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

import io.zcube.clustering.plan.OptimizeSettings
import io.zcube.layout.FileCount
import io.zcube.sql.layout.LayoutPlan
import io.zcube.sql.predicates.PredicateBoxes
import io.zcube.sql.sampling.RowSample
import io.zcube.sql.simulation.{EncodedSample, ReadingChance, SimulatedFile}

/** Tries layouts on a sample of a table: assigns the sampled rows to files, and counts what queries
  * would read.
  *
  * @param coded      columns to cluster by, columns in predicates, and partition columns
  * @param partitions numbers of the partition columns; partitions never share files
  * @param bytes      of the table
  * @param rows       of the table
  * @param queries for each query, its weight and the conditions of its scans
  */
final class LayoutEvaluator(
    coded: EncodedSample,
    partitions: Seq[Int],
    bytes: Long,
    rows: Long,
    settings: OptimizeSettings,
    queries: Seq[(Double, Seq[PredicateBoxes])]) {

  private val sample = coded.sample
  private val codedScans = queries.map { case (_, scans) => scans.map(coded.code) }
  private val chance = new ReadingChance(
    coded,
    if (sample.complete) 1.0 else math.min(1.0, sample.rows.length / math.max(1.0, rows.toDouble)))

  /** The rows of a partition.
    *
    * @param positions their positions in the sample
    */
  final private class Group(val positions: IndexedSeq[Int]) {

    /** With all columns. */
    lazy val rows: RowSample = part(positions, sample.dataTypes.indices)
  }

  private val groups: Seq[Group] = {
    val all = sample.rows.indices
    val positions = if (partitions.isEmpty) Seq(all)
    else {
      all.groupBy { i =>
        partitions.map { c =>
          if (sample.rows(i).isNullAt(c)) None else Some(sample.rows(i).get(c, sample.dataTypes(c)))
        }
      }.values.toSeq.sortBy(_.head)
    }
    positions.map(new Group(_))
  }

  /** What the workload would read if the whole table had this layout. */
  def run(candidate: LayoutCandidate): LayoutCost = {
    val (files, sizes) = groups.flatMap(group => filesOf(candidate, group)).unzip
    val ordered = candidate.columns.toSet
    val each = codedScans.map { scans =>
      val read = scans.flatMap(scan => chance.of(files, ordered, scan).zip(sizes))
      val number = read.map(_._1).sum.round
      val size = read.map { case (share, of) => share * of }.sum.round
      // What is expected to be read now and then counts as a file.
      (math.max(number, math.min(size, 1L)), size)
    }
    def total(figure: ((Long, Long)) => Long): Double =
      queries.map(_._1).zip(each).map { case (weight, of) => weight * figure(of) }.sum
    LayoutCost(candidate, files.size, total(_._1), total(_._2), each)
  }

  /** The files of one partition, with their bytes. */
  private def filesOf(
      candidate: LayoutCandidate,
      group: Group): Seq[(SimulatedFile, Double)] = {
    val size = group.positions.size
    val share = size.toDouble / sample.rows.length
    val (groupBytes, groupRows) = (share * bytes, share * rows)
    val allRows = math.max(1L, groupRows.round)
    def count(rule: (Long, Long, Long, Long) => Int) =
      rule(groupBytes.round, settings.plan.targetFileBytes, allRows, settings.plan.maxRecords)
    val keys = part(group.positions, candidate.columns).copy(rowCount = allRows)
    val layout = LayoutPlan.within(
      keys,
      count(FileCount.min),
      count(FileCount.of),
      settings.layoutRequest(candidate.curve, candidate.weights))
    SimulatedFile.of(group.rows, layout.filesOf(keys)).map(file =>
      file -> groupBytes * file.rows / size)
  }

  private def part(positions: IndexedSeq[Int], columns: Seq[Int]): RowSample = {
    val types = columns.map(sample.dataTypes)
    val rows = positions.map { i =>
      val row = sample.rows(i)
      new GenericInternalRow(columns.map { c =>
        if (row.isNullAt(c)) null else row.get(c, sample.dataTypes(c))
      }.toArray[Any]): InternalRow
    }
    RowSample(types, rows.toArray, rows.size.toLong, sample.complete)
  }
}
