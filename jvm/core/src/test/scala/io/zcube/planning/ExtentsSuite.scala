package io.zcube.planning

import org.scalatest.funsuite.AnyFunSuite

class ExtentsSuite extends AnyFunSuite {

  private def file(lower: Seq[Long], upper: Seq[Long]): DataFile =
    DataFile("f", 100, Some(100), ranges = new KeyRanges(lower.toArray, upper.toArray))

  // 50 files for each quarter of a year, each with all customers, and two for the last days.
  private val quarters = for (quarter <- 0 until 4; i <- 0 until 50)
    yield (quarter * 90L, quarter * 90L + 89, 5L + i, 900L + i)
  private val last = Seq((350L, 357L, 3L, 990L), (352L, 359L, 8L, 991L))

  private def extents(columns: ((Long, Long, Long, Long)) => Seq[(Long, Long)]): Seq[Double] = {
    def files(of: Seq[(Long, Long, Long, Long)]) =
      of.map(columns).map(ranges => file(ranges.map(_._1), ranges.map(_._2)))
    new Extents(files(quarters ++ last))
      .of(files(last).map(PlannedFile(_, FileReason.Fresh)))
  }

  test("the last days meet a quarter in time, and all customers") {
    assert(extents { case (a, b, c, d) => Seq((a, b), (c, d)) } === Seq(52.0 / 202, 1.0))
  }

  test("files with only NULLs in a column say nothing of it") {
    val none = (KeyRanges.NoLower, KeyRanges.NoUpper)
    val some = quarters ++ last
    val blank = some ++ some
    def files(of: Seq[(Long, Long, Long, Long)], x: ((Long, Long)) => (Long, Long)) =
      of.map { case (a, b, c, d) => file(Seq(x((a, b))._1, c), Seq(x((a, b))._2, d)) }
    val all = files(blank, _ => none) ++ files(some, identity)
    def extents(group: Seq[DataFile]) =
      new Extents(all).of(group.map(PlannedFile(_, FileReason.Fresh)))
    val newest = files(last, identity)
    assert(extents(newest) === Seq(52.0 / 202, 1.0))
    assert(extents(newest ++ files(last, _ => none)) === Seq(52.0 / 202, 1.0))
    assert(extents(files(last, _ => none)) === Nil)
    val constant = files(blank, _ => none) ++ files(some, _ => (7L, 7L))
    assert(new Extents(constant).of(newest.map(PlannedFile(_, FileReason.Fresh))) === Nil)
  }

  test("a column in which all files look alike has the least extent") {
    for (blind <- Seq((7L, 7L), (0L, 1L), (Long.MinValue, Long.MaxValue))) {
      assert(extents { case (a, b, _, _) => Seq((a, b), blind) } === Nil)
      assert(extents { case (a, b, c, d) => Seq((a, b), (c, d), blind) } ===
        Seq(52.0 / 202, 1.0, 52.0 / 202))
    }
  }
}
