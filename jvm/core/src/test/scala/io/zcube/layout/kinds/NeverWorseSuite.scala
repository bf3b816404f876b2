package io.zcube.layout.kinds

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.{ColumnWeights, CutPoints, Workload}

/** That queries never read a greater share of the files of the default layout than of Delta's. */
class NeverWorseSuite extends AnyFunSuite {

  private val Rows = 20000
  // More of them and all numbers of columns: ZCUBE_LONG_RUN=1, some minutes.
  private val isLong = sys.env.contains("ZCUBE_LONG_RUN")
  private val columnCounts = if (isLong) 1 to 8 else Seq(1, 2, 3, 4, 7)
  private val fileCounts = if (isLong) Seq(3, 5, 17, 100, 300, 1000) else Seq(3, 17, 100)

  for (name <- TestTables.names) test(s"never worse than Delta: $name") {
    val table = TestTables.of(name, Rows)
    val worse = for {
      count <- columnCounts
      columns = table.take(count)
      queries = new TestQueries(columns, count)
      files <- fileCounts
      ours = queries.read(kdTree(columns, files))
      (delta, theirs) <- deltas(columns, files).view.mapValues(queries.read).toSeq
      ratios = ours.map { case (kind, share) => kind -> share / theirs(kind) }
      ratio = math.pow(ratios.values.product, 1.0 / ratios.size)
      if ratio > 1.02
    } yield f"$count columns, $files files, $delta: $ratio%.3f $ratios"
    assert(worse.isEmpty, worse.mkString("\n", "\n", ""))
  }

  private def deltas(columns: Seq[TestColumn], files: Int): Map[String, Array[Int]] =
    Map("ZORDER BY" -> DeltaLayouts.zOrder(columns, files)) ++
      Option.when(columns.size <= DeltaLayouts.MostClustered)(
        "CLUSTER BY" -> DeltaLayouts.clusterBy(columns, files))

  private def kdTree(columns: Seq[TestColumn], files: Int): Array[Int] = {
    val bits = LayoutKind.KdTree.bits(columns.size, files, None)
    val sample = TestColumn.sample(columns, 1 << bits)
    // What statistics don't tell, the engine has count for nothing.
    val weights =
      if (columns.forall(_.isTold) || !columns.exists(_.isTold)) Nil
      else columns.map(column => if (column.isTold) 1.0 else ColumnWeights.Nothing)
    val laidOut =
      LayoutKind.KdTree.layOut(sample, files, bits, spread = true, weights, Workload.Empty)
    val random = new Random(9)
    sample.keys(laidOut.layout).map(laidOut.cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
  }
}
