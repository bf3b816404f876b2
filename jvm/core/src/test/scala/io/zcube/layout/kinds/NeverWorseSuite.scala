package io.zcube.layout.kinds

import java.nio.file.{Files, Paths}

import scala.collection.mutable
import scala.util.{Random, Using}

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.{ColumnWeights, CutPoints, CutRules, Workload}

/** Checks that queries never read a larger share of the files with the default layout than with
  * Delta's.
  *
  * With `ZCUBE_LONG_RUN` in the environment: all numbers of columns and of files, which takes some
  * minutes; the figures go to `benchmarks/results/never_worse_simulated.md`.
  */
class NeverWorseSuite extends AnyFunSuite with BeforeAndAfterAll {
  import NeverWorseSuite._

  private val isLong = sys.env.contains("ZCUBE_LONG_RUN")
  private val columnCounts = if (isLong) 1 to 8 else Seq(1, 2, 4, 7)
  private val fileCounts = if (isLong) Seq(3, 5, 17, 100, 300, 1000) else Seq(3, 17, 100)
  private val all = mutable.ArrayBuffer.empty[Case]

  for (name <- TestTables.names) test(s"never worse than Delta: $name") {
    val table = TestTables.of(name, Rows)
    val cases = for {
      count <- columnCounts
      columns = table.take(count)
      queries = new TestQueries(columns, count)
      layouts = deltas(columns)
      files <- fileCounts
      ours = queries.read(kdTree(columns, files))
      (delta, theirs) <- layouts.view.mapValues(layout => queries.read(layout(files))).toSeq
      ratios = ours.map { case (kind, share) => kind -> share / theirs(kind) }
    } yield Case(name, count, files, delta, ratios)
    all ++= cases
    val worse = cases.filter(of => of.ratio > Limit && !Known.contains(of.key))
    assert(worse.isEmpty, worse.mkString("\n", "\n", ""))
  }

  override protected def afterAll(): Unit =
    // Not written when only some of the tests run.
    if (isLong && all.map(_.data).distinct.size == TestTables.names.size) {
      val page = Paths.get("benchmarks", "results", "never_worse_simulated.md")
      val _ = Files.writeString(page, markdown)
    }

  private def markdown: String = {
    val cells = for ((data, of) <- TestTables.names.map(name => name -> all.filter(_.data == name)))
      yield {
        val figures = Layouts.flatMap { delta =>
          val ratios = of.filter(_.delta == delta).map(_.ratio)
          Seq(math.exp(ratios.map(math.log).sum / ratios.size), ratios.max)
        }
        figures.map(figure => f"$figure%.3f").mkString(s"$data | ", " | ", "")
      }
    s"""# Is the default ever worse than Delta's layouts? Simulated
       |
       |Made by `NeverWorseSuite` with `ZCUBE_LONG_RUN=1`. cpu $processor, java ${System.getProperty(
        "java.version")},
       |zcube's `kdtree`, Delta 4.4.0's layouts written anew after its source. Tables of $Rows rows, by 1 to 8 columns, in
       |${fileCounts.mkString(", ")} files, 400 queries each. Ratios of the share of files read, ZCube to Delta: the geometric
       |mean over all cases of a line, and the worst case. A case is a number of columns and of files; its ratio is the
       |geometric mean over the four kinds of queries. Delta takes at most four columns for CLUSTER BY, and no
       |booleans: the figures of booleans for CLUSTER BY are those of its curve if it did.
       |
       |**${all.count(_.ratio > Limit)} of ${all.size} cases over $Limit.**
       |
       || data | ${Layouts.map(delta => s"$delta, mean | worst").mkString(" | ")} |
       || -- | -- | -- | -- | -- |
       |${cells.map(line => s"| $line |").mkString("\n|")}
       |""".stripMargin
  }

  private def processor: String = {
    val info = Paths.get("/proc/cpuinfo")
    if (!Files.exists(info)) System.getProperty("os.arch")
    else Using.resource(Files.lines(info))(_.filter(_.startsWith("model name")).findFirst)
      .map[String](_.split(":", 2)(1).trim).orElse(System.getProperty("os.arch"))
  }

  private def deltas(columns: Seq[TestColumn]): Map[String, Int => Array[Int]] =
    Map("ZORDER BY" -> DeltaLayouts.zOrder(columns)) ++
      Option.when(columns.size <= DeltaLayouts.MaxClustered)(
        "CLUSTER BY" -> DeltaLayouts.clusterBy(columns))

  private def kdTree(columns: Seq[TestColumn], files: Int): Array[Int] = {
    val bits = LayoutKind.KdTree.bits(columns.size, files, None)
    val sample = TestColumn.sample(columns, 1 << bits)
    val weights =
      if (columns.forall(_.isTold) || !columns.exists(_.isTold)) Nil
      else columns.map(column => if (column.isTold) 1.0 else ColumnWeights.NoStatistics)
    val laidOut =
      LayoutKind.KdTree.layOut(sample, files, bits, CutRules(), weights, Workload.Empty)
    val random = new Random(9)
    sample.keys(laidOut.layout).map(laidOut.cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
  }
}

private object NeverWorseSuite {
  private val Rows = 20000

  /** The limit, relative to what is read with Delta's layout. */
  private val Limit = 1.02

  /** In the first, queries for the values of a row read 1.18 times as many files, and queries for a
    * range a tenth fewer. In the others, a column without minima and maxima has NULLs: files with
    * only NULLs can be skipped, but neither the tree nor the curves regard that.
    */
  private val Known = Set(
    ("mostly NULL", 8, 1000, "ZORDER BY"),
    ("mostly NULL, some without statistics", 3, 300, "ZORDER BY"),
    ("mostly NULL, some without statistics", 3, 300, "CLUSTER BY")
  )

  private val Layouts = Seq("ZORDER BY", "CLUSTER BY")

  /** @param kinds by kind of query, the share of files read relative to Delta's layout */
  private case class Case(
      data: String,
      columns: Int,
      files: Int,
      delta: String,
      kinds: Map[String, Double]) {

    def key: (String, Int, Int, String) = (data, columns, files, delta)

    val ratio: Double = math.pow(kinds.values.product, 1.0 / kinds.size)

    override def toString: String = f"$columns columns, $files files, $delta: $ratio%.3f $kinds"
  }
}
