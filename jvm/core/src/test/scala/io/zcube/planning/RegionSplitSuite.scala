package io.zcube.planning

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.zcube.range.OrderPreservingBits

class RegionSplitSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def file(name: String, bytes: Long, ranges: (Long, Long)*): PlannedFile = PlannedFile(
    DataFile(
      name,
      bytes,
      ranges = new KeyRanges(ranges.map(_._1).toArray, ranges.map(_._2).toArray)),
    FileReason.Fresh)

  private def names(parts: Seq[Seq[PlannedFile]]): Seq[String] =
    parts.map(_.map(_.file.path).sorted.mkString)

  test("files in the order of a column are divided evenly") {
    val ten = ('a' to 'j').zipWithIndex.map { case (c, i) =>
      file(s"$c", 100, (i * 10L, i * 10L + 9))
    }
    val parts = RegionSplit.split(new Random(1).shuffle(ten), CubeSizes(0, 300), 0)
    assert(names(parts) === Seq("ab", "cde", "fg", "hij"))
  }

  test("files that all cover everything stay together, and so do files without statistics") {
    val all = (1 to 20).map(i => file(s"$i", 100, (0L, 99L), (0L, 99L)))
    assert(RegionSplit.split(all, CubeSizes(0, 500), 0.5).size === 1)
    val unknown = all.map(f => f.copy(file = f.file.copy(ranges = KeyRanges.Unknown)))
    assert(RegionSplit.split(unknown, CubeSizes(0, 500), 0.5).size === 1)
    assert(RegionSplit.split(Nil, CubeSizes(0, 500), 0.5) === Nil)
  }

  test(
    "files in no order stay together, whatever the number of parts and however their bounds lie") {
    val random = new Random(31)
    val files = (1 to 300).map { i =>
      file(s"$i", 100, (random.nextInt(1000).toLong, 100000L - random.nextInt(1000)))
    }
    for (capacity <- Seq(25000L, 12000L, 9000L, 7000L, 5000L))
      assert(RegionSplit.split(files, CubeSizes(0, capacity), 0.25).size === 1, capacity)
  }

  test("the column that fewer bytes straddle is cut") {
    // By the first column every cut has a straddling file; by the second none has.
    val files = (0 until 10).map(i => file(s"$i", 100, (i * 10L, i * 10L + 14), (i * 5L, i * 5L)))
    assert(names(RegionSplit.split(files, CubeSizes(0, 500), 0.0)) === Seq("01234", "56789"))
  }

  private val none = (KeyRanges.NoLower, KeyRanges.NoUpper)

  test("NULLs of a column are below its values, and are divided by the other columns") {
    val files = (0 to 3).map(i => file(s"$i", 100, (i * 10L, i * 10L + 9), (0L, 99L))) ++
      (0 to 3).map(i => file(s"n$i", 100, none, (i * 10L, i * 10L + 9)))
    val parts = RegionSplit.split(new Random(2).shuffle(files), CubeSizes(0, 200), 0)
    assert(names(parts) === Seq("n0n1", "n2n3", "01", "23"))
    val unknown = file("u", 100, (Long.MinValue, Long.MaxValue), none)
    val some = files.slice(3, 5) :+ unknown
    assert(names(RegionSplit.split(some, CubeSizes(0, 100), 0)) === Seq("u", "n0", "3"))
  }

  test("files with only NULLs may be divided anywhere") {
    val files = (1 to 100).map(i => file(s"f$i", 100, none, none))
    val parts = RegionSplit.split(files, CubeSizes(0, 1000), 0)
    assert(parts.map(_.size).max <= 10 && parts.flatten.toSet === files.toSet)
  }

  test("a file of a single value at a cut is on the high side") {
    val files = Seq(file("a", 100, (1L, 5L)), file("b", 100, (5L, 5L)), file("c", 100, (5L, 9L)))
    // At 5 nothing begins below and extends beyond.
    assert(names(RegionSplit.split(files, CubeSizes(0, 200), 0.0)) === Seq("a", "bc"))
  }

  private val tables: Gen[Seq[PlannedFile]] = for {
    seed <- Gen.choose(0L, 1L << 40)
    count <- Gen.choose(0, 60)
    columns <- Gen.choose(1, 3)
    longest <- Gen.oneOf(1, 3, 30)
    // Differences of large numbers aren't exact as doubles.
    from <- Gen.oneOf(0L, -20L, (1L << 62) + 500)
  } yield {
    val random = new Random(seed)
    (1 to count).map { i =>
      val ranges = (1 to columns).map { _ =>
        val low = from + random.nextInt(50)
        random.nextInt(30) match {
          case 0 => (Long.MinValue, low)
          case 1 => (low, Long.MaxValue)
          case 2 => none
          case 3 => (low, low + 1000000)
          case _ => (low, low + random.nextInt(longest))
        }
      }
      val known = file(s"f$i", 1 + random.nextInt(100).toLong, ranges: _*)
      if (random.nextInt(20) > 0) known
      else known.copy(file = known.file.copy(ranges = KeyRanges.Unknown))
    }
  }

  /** Where the files of a part begin and end, if they may reach over a cut by a share of their width, of
    * which at most four times the median counts.
    */
  private def bounds(
      part: Seq[PlannedFile],
      column: Int,
      tolerance: Double): Map[PlannedFile, (Long, Long)] = {
    def exact(file: PlannedFile) = {
      val ranges = file.file.ranges
      if (ranges.dimensions == 0) (Long.MinValue, Long.MaxValue)
      else if ((0 until ranges.dimensions).forall(ranges.isEmpty)) {
        val anywhere = Long.MinValue + (file.file.path.hashCode & Int.MaxValue)
        (anywhere, anywhere)
      } else if (ranges.isEmpty(column)) (Long.MinValue, Long.MinValue)
      else (ranges.lower(column), ranges.upper(column))
    }
    def width(file: PlannedFile) = exact(file) match {
      case (lower, _) if lower <= Long.MinValue + Int.MaxValue => None
      case (_, Long.MaxValue) => None
      case (lower, upper) => Some(upper - lower)
    }
    val widths = part.flatMap(width(_)).sorted
    def most = 4 * widths((widths.size - 1) / 2)
    part.map { file =>
      val (lower, upper) = exact(file)
      val inset = width(file)
        .fold(0L)(of => math.floor(math.min(of, most).toDouble * tolerance).toLong)
      file -> ((lower + inset, upper - inset))
    }.toMap
  }

  /** How many parts from the middle a part is cut, and how far from that multiple, as a share. Infinite
    * if the cut would add a part.
    */
  private def off(bytes: Long, total: Long, capacity: Long): (Double, Double) = {
    val parts = math.ceil(total.toDouble / capacity)
    val middle = math.floor(parts / 2)
    val multiples = (1 until parts.toInt)
      .map(n => (math.abs(n - middle), math.abs(bytes - total * n / parts) / total))
    // Half a part to either side. Of two multiples that is the one nearer to the middle.
    val near = multiples.filter(_._2 <= 0.5 / parts + 1e-12).minOption
    def fits = Seq(bytes, total - bytes).map(of => math.ceil(of.toDouble / capacity)).sum <= parts
    near.getOrElse {
      if (fits) (parts, multiples.map(_._2).min)
      else (Double.PositiveInfinity, Double.PositiveInfinity)
    }
  }

  /** For each possible cut of a part that leaves about a multiple of the capacity on either side, the
    * bytes across it as a share of the smaller side's, without tolerance and with it, and how far off it
    * is.
    */
  private def cuts(
      part: Seq[PlannedFile],
      capacity: Long,
      tolerance: Double): Seq[(Double, Double, (Double, Double))] = {
    val total = PlannedFile.bytesOf(part)
    for {
      column <- 0 until part.map(_.file.ranges.dimensions).max
      (exact, tolerant) = (bounds(part, column, 0), bounds(part, column, tolerance))
      value <- exact.values.map(_._1).toSeq.distinct
      below = part.filter(tolerant(_)._1 < value)
      bytes = PlannedFile.bytesOf(below)
      where = off(bytes, total, capacity)
      // No part has less than two bytes.
      if math.min(bytes, total - bytes) > 1 && where._1 < Double.PositiveInfinity
    } yield {
      def across(of: PlannedFile => (Long, Long)) = PlannedFile.bytesOf(part.filter { file =>
        val (from, to) = of(file)
        from < value && to > value
      }).toDouble / math.min(bytes, total - bytes)
      (across(exact), across(tolerant), where)
    }
  }

  test("nothing is lost, parts fit unless no cut does, and the order of the files doesn't matter") {
    forAll(
      tables,
      Gen.choose(50L, 2000L),
      Gen.choose(0.0, 0.5),
      Gen.oneOf(0.0, 1.0),
      Gen.oneOf(0.0, 0.1, 0.3),
      minSuccessful(600)) {
      (files, capacity, most, evenness, tolerance) =>
        val parts = RegionSplit.split(files, CubeSizes(0, capacity), most, evenness, tolerance)
        assert(parts.flatten.map(_.file.path).sorted === files.map(_.file.path).sorted)
        assert(parts.forall(_.nonEmpty))
        // Without tolerance, if it leaves no multiple of a part; far from one only if neither does.
        val tolerances = Seq(tolerance, 0.0)
        def permitted(part: Seq[PlannedFile], tolerance: Double) =
          cuts(part, capacity, tolerance).filter(_._1 <= most)
        for (part <- parts; total = PlannedFile.bytesOf(part) if total > capacity)
          assert(part.size == 1 || tolerances.forall(permitted(part, _).isEmpty))
        // The first cut is the best there is.
        if (parts.size > 1) {
          def costOf(share: Double, off: (Double, Double)) = (off._1, share + evenness * off._2)
          def anyMultiple(tolerance: Double) =
            permitted(files, tolerance).exists { case (_, _, (away, _)) =>
              away < math.ceil(PlannedFile.bytesOf(files).toDouble / capacity)
            }
          val used = tolerances.find(anyMultiple)
            .orElse(tolerances.find(permitted(files, _).nonEmpty)).get
          val (away, cost) =
            permitted(files, used).map { case (_, share, off) => costOf(share, off) }.min
          val candidates = for {
            column <- 0 until files.map(_.file.ranges.dimensions).max
            (exact, tolerant) = (bounds(files, column, 0), bounds(files, column, used))
            value <- exact.values.map(_._1).toSeq.distinct
          } yield (exact, tolerant, value)
          val isBest = (1 until parts.size).exists { n =>
            val (low, high) = (parts.take(n).flatten, parts.drop(n).flatten)
            val bytes = Seq(low, high).map(PlannedFile.bytesOf(_))
            candidates.exists { case (exact, tolerant, value) =>
              def share(of: PlannedFile => (Long, Long)) =
                PlannedFile.bytesOf(files.filter { file =>
                  val (from, to) = of(file)
                  from < value && to > value
                }).toDouble / bytes.min
              val found = costOf(share(tolerant), off(bytes.head, bytes.sum, capacity))
              low.forall(tolerant(_)._1 < value) && high.forall(tolerant(_)._1 >= value) &&
              share(exact) <= most && found._1 == away && math.abs(found._2 - cost) < 1e-9
            }
          }
          assert(isBest)
        }
        val again = RegionSplit.split(
          new Random(3).shuffle(files),
          CubeSizes(0, capacity),
          most,
          evenness,
          tolerance)
        assert(again.map(_.map(_.file.path).toSet) === parts.map(_.map(_.file.path).toSet))
    }
  }

  test("where jobs cut similar rows at nearly the same values, that is where they are divided") {
    val (low, high) = ((0L, 9L), (10L, 19L))
    val files = Seq(
      file("a", 100, (0L, 49L), low),
      file("b", 100, (0L, 49L), low),
      file("c", 100, (0L, 51L), high),
      file("d", 100, (0L, 52L), high),
      file("e", 100, (50L, 99L), low),
      file("f", 100, (50L, 99L), (0L, 19L)),
      file("g", 100, (50L, 99L), high),
      file("h", 100, (50L, 99L), high)
    )
    def parts(tolerance: Double) =
      names(RegionSplit.split(files, CubeSizes(0, 400), 0.5, 0, tolerance))
    assert(parts(0.1) === Seq("abcd", "efgh"))
    // Only one file straddles the cut by the second column, but by half of its width.
    assert(parts(0) === Seq("abef", "cdgh"))
    // Files with only NULLs say nothing of the usual width.
    val more = files ++ (1 to 20).map(i => file(s"n$i", 0, none, none))
    val known = RegionSplit.split(more, CubeSizes(0, 400), 0.5, 0, 0.1)
      .map(_.filterNot(_.file.path.startsWith("n")))
    assert(names(known) === Seq("abcd", "efgh"))
  }

  test(
    "files that all cover everything stay together, also where numbers are compared by their bits") {
    def bits(value: Double) = OrderPreservingBits.ofDouble(value)
    for (of <- Seq(
        Seq((0.0, 999.99), (0.0, 999.99), (0.01, 999.99), (0.01, 999.99)),
        Seq((-1.0, 999.0), (-0.5, 998.0), (0.5, 999.0), (1.0, 999.0)),
        Seq((0.0, 3e7), (0.0, 3e7), (1.0, 3e7), (1.0, 3e7)),
        Seq((1.0, 500.0), (1.0, 500.0), (1.0, Double.NaN), (1.0, Double.NaN))
      )) {
      val files = of.zipWithIndex.map { case ((from, to), i) =>
        file(s"$i", 100, (bits(from), bits(to)))
      }
      assert(RegionSplit.split(files, CubeSizes(0, 200), 0.5, 2, 0.2).size === 1, of)
    }
  }

  test("a tolerance that leaves no cut doesn't apply") {
    val files =
      Seq("a" -> (18L -> 23L), "b" -> (2L -> 12L), "c" -> (6L -> 46L), "d" -> (13L -> 33L))
        .map { case (name, range) => file(name, 100, range) }
    // With it, at 13 only b is below, and c, as large, straddles; at 18 c and d straddle.
    for (tolerance <- Seq(0, 0.2)) {
      val parts = RegionSplit.split(files, CubeSizes(0, 200), 0.5, 2, tolerance)
      assert(names(parts) === Seq("bc", "ad"), tolerance)
    }
  }

  test("a tolerance that leaves only a cut far from even doesn't apply") {
    val files = Seq(
      ("a", 200L, 27L -> 27L),
      ("b", 300L, 12L -> 17L),
      ("c", 200L, 9L -> 9L),
      ("d", 100L, 5L -> 5L),
      ("e", 100L, 10L -> 15L),
      ("f", 100L, 10L -> 20L),
      ("g", 300L, 9L -> 14L)
    ).map { case (name, bytes, range) => file(name, bytes, range) }
    // With it, g is above 10, where c, d and g would fill a part; only a can be split off.
    for (tolerance <- Seq(0, 0.2)) {
      val parts = RegionSplit.split(files, CubeSizes(0, 600), 0.5, 2, tolerance)
      assert(names(parts) === Seq("cdg", "bef", "a"), tolerance)
    }
  }

  test("single values far away leave the cuts as they are") {
    def day(year: Int) = java.time.LocalDate.of(year, 1, 1).toEpochDay
    // In each year, some of ten files have a row whose end is still open.
    for {
      open <- 0 to 5
      // The others have all days of the year, or one.
      width <- Seq(364, 0)
      tolerance <- Seq(0, 0.2)
    } {
      val files = for (year <- 2020 to 2029; number <- 0 until 10)
        yield file(
          s"$year $number ",
          100,
          (day(year), if (number < open) day(9999) else day(year) + width))
      val mixed = new Random(5).shuffle(files)
      val parts = RegionSplit.split(mixed, CubeSizes(400, 1000), 0.5, 2, tolerance)
      val what = s"$open of ten, else $width, tolerance $tolerance"
      assert(parts.map(PlannedFile.bytesOf(_)) === Seq.fill(10)(1000L), what)
    }
  }

  test("a cut makes no part that would be merged again, and none more than needed") {
    def split(sizes: CubeSizes, bytes: Long*) = {
      val files = bytes.zipWithIndex.map { case (size, i) =>
        file(s"$i", size, (10L * i, 10L * i + 9))
      }
      RegionSplit.split(files, sizes, 0.5).map(_.map(_.file.bytes))
    }
    assert(split(CubeSizes(100, 200), 100, 150) === Seq(Seq(100, 150)))
    assert(split(CubeSizes(100, 200), 150, 100) === Seq(Seq(150, 100)))
    assert(split(CubeSizes(100, 200), 150, 150) === Seq(Seq(150), Seq(150)))
    // 1,000 bytes would still be two.
    assert(split(CubeSizes(0, 600), 1000, 100) === Seq(Seq(1000, 100)))
    assert(split(CubeSizes(0, 600), 100, 1000) === Seq(Seq(100, 1000)))
    // Exactly between no cut and the middle, which is preferred.
    assert(split(CubeSizes(0, 250), 100, 300) === Seq(Seq(100), Seq(300)))
  }

  test("a cut far from even is better than none, if both sides need no more parts") {
    def ranges(low: Int, high: Int) =
      (0 until low).map(i => file(s"a$i", 10, (0L, 9L))) ++
        (0 until high).map(i => file(s"b$i", 10, (10L, 19L)))
    for ((low, high, sizes) <- Seq(
        (10, 50, CubeSizes(0, 500)),
        (50, 10, CubeSizes(0, 500)),
        (25, 95, CubeSizes(100, 1000)),
        (33, 100, CubeSizes(100, 1000)))) {
      val parts = RegionSplit.split(ranges(low, high), sizes, 0.5, 2, 0.2)
      assert(parts.map(_.size) === Seq(low, high))
    }
    // The more even of two.
    val three = ranges(12, 8) ++ (0 until 90).map(i => file(s"c$i", 10, (20L, 29L)))
    for (evenness <- Seq(0.0, 2.0)) {
      val parts = RegionSplit.split(three, CubeSizes(100, 1000), 0.5, evenness, 0.2)
      assert(parts.map(_.size) === Seq(20, 90))
    }
    // Not if it is smaller than a stable cube, or if the rest doesn't fit either.
    assert(RegionSplit.split(ranges(10, 95), CubeSizes(100, 1000), 0.5, 2, 0.2).size === 1)
    assert(RegionSplit.split(ranges(25, 101), CubeSizes(100, 1000), 0.5, 2, 0.2).size === 1)
  }

  test("differences of large numbers are exact, so that nothing ends before it begins") {
    val from = 1L << 62
    val files = Seq("a" -> (from + 500), "b" -> (from + 600)).flatMap { case (name, start) =>
      (0 until 5).map(i => file(s"$name$i", 100, (start, start + 20)))
    }
    val parts = RegionSplit.split(files, CubeSizes(0, 500), 0.5, 2, 0.2)
    assert(names(parts) === Seq("a0a1a2a3a4", "b0b1b2b3b4"))
  }

  test("where the middle can't be cut, the nearest multiple of a part is") {
    // Days in order, but the middle one is heavier than a part.
    val days = (0 until 20).map { i =>
      file(f"$i%02d ", if (i == 11) 1000 else 100, (i.toLong, i.toLong), (0L, 9L))
    }
    val parts = RegionSplit.split(new Random(4).shuffle(days), CubeSizes(0, 300), 0.25)
    val (heavy, others) = parts.partition(_.exists(_.file.bytes == 1000))
    assert(heavy.map(_.size).max <= 3)
    assert(others.map(PlannedFile.bytesOf(_)).max <= 300)
    // No cuts but those at its sides: what is in order is divided, what covers everything stays.
    val wide = (1 to 30).map(i => file(s"w$i", 100, (100L, 999L), (0L, 9L)))
    val ordered = (0 until 6).map(i => file(s"o$i", 100, (i * 10L, i * 10L + 9), (0L, 9L)))
    val sizes =
      RegionSplit.split(wide ++ ordered, CubeSizes(0, 300), 0.25).map(PlannedFile.bytesOf(_))
    assert(sizes === Seq(300, 300, 3000))
  }

  test("a clean cut is better than an even one, unless evenness is worth it") {
    val files = (0 until 3).map(i => file(s"a$i", 100, (0L, 2999L - i))) ++
      (0 until 7).map(i => file(s"b$i", 100, (3000L + 500 * i, 9999L)))
    def sizes(evenness: Double) =
      RegionSplit.split(files, CubeSizes(0, 800), 1.0, evenness).map(PlannedFile.bytesOf(_))
    assert(sizes(0) === Seq(300, 700))
    assert(sizes(9) === Seq(500, 500))
  }
}
