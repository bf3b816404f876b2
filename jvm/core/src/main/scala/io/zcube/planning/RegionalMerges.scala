package io.zcube.planning

import scala.collection.mutable

import io.zcube.quality.SortedIndexes

/** Merges that are too large for a run's budget, a region at a time.
  *
  * Files of a small cube are wide. Merging a few that lie over each other makes narrower ones;
  * these are merged where they overlap, and so on, until they are about as narrow as those of the
  * largest cube and are merged with the ones below them. So each group is small, at the price of
  * more of them (a log-structured merge tree with partial compaction, as in C. Luo, M. J. Carey:
  * "LSM-based storage techniques: a survey", VLDB Journal 2020, but in several columns).
  *
  * A group is made for the region around a wide file, of the widest files there, from several
  * cubes. Of all possible groups, those come first that save the most reading for each file written.
  * Reading is the width of the files' boxes: how many of them a query for one value of one column
  * reads, on average over the columns. It is estimated after the rewrite by cutting the group's box
  * in halves, and calibrated by the cubes that the files come from. So columns that can't be cut
  * (constant ones, texts with a prefix longer than the statistics) promise nothing, and once nothing
  * is appended any more, merging ends.
  *
  * Example: a table of 200 files, and four small cubes of four files, each file a quarter of all
  * space, with a budget of 10 files. The first run merges the four files of a quarter, one from each
  * cube, into four files of a sixteenth.
  *
  * @param cubes    partial ones, which may be merged; their files have only NULLs in the same columns,
  *   mostly in none
  * @param maxSteps how many files may be compared with regions
  */
final private class RegionalMerges(
    cubes: Seq[ZCube],
    options: PlanOptions,
    maxSteps: Long = RegionalMerges.MaxSteps) {
  import RegionalMerges._

  // Without stable cubes, beside which all others would look narrow.
  private val space = RankSpace.of(cubes.flatMap(_.files))

  private val mergeShare = math.max(MinMergeShare, options.mergeShare)
  private val fanOut = math.max(MinFanOut, options.fanOut)
  private val total = math.max(1L, cubes.iterator.map(_.bytes).sum).toDouble

  /** The smallest gain. In a table of many files each is narrow and saves little: then it is what
    * merging `fanOut` cubes saves that have `mergeShare` of the bytes each, by the defaults of both.
    */
  private val minGain = mergeShare * math.min(MinGain, relativeGain)

  private def relativeGain: Double = if (space.dimensions == 0) 0.0
  else {
    def side(share: Double) = math.pow(math.min(1.0, share), 1.0 / space.dimensions)
    val share = PlanOptions.Default.mergeShare
    val files = side(options.targetFileBytes / total) / side(share)
    files * (1 - side(1.0 / PlanOptions.Default.fanOut)) / share
  }

  /** The widest first. */
  private[planning] val boxes: Array[FileBox] = {
    val known = for {
      cube <- cubes
      file <- cube.files if space.dimensions > 0 && space.measures(file.ranges)
    } yield FileBox(file, cube.id, space, total)
    known.sortBy(box => (-box.spread, box.file.path)).toArray
  }

  /** For each column, positions in the order of the boxes' middles. */
  private lazy val byMiddle: Seq[Array[Int]] = (0 until space.dimensions).map { column =>
    val all = Array.range(0, boxes.length)
    SortedIndexes.of(all, i => (boxes(i).middle(column) * MiddleScale).toLong)
  }

  /** What the files of a cube read, as a multiple of the estimate; 1 where it can't be known. */
  private val calibration: Map[String, Double] =
    boxes.groupBy(_.cube).collect {
      case (cube, members) if members.length >= MinMembers =>
        val hull = new Hull(space.dimensions)
        members.foreach(hull.add)
        val estimate = hull.readingOf(members.length.toDouble)
        cube -> math.max(1.0, members.iterator.map(_.reading).sum / estimate)
    }

  private val taken = new Array[Boolean](boxes.length)
  private var steps = 0L

  /** Groups of files without any in common, of at most so many bytes together, the most useful
    * first. May be called once.
    */
  def within(budget: Long): Seq[Part] = {
    val parts = Seq.newBuilder[Part]
    var left = budget
    val queue = mutable.PriorityQueue.empty[Group](Ordering.by(group => (group.gain, -group.seed)))
    def look(seed: Int): Unit =
      if (steps <= maxSteps) best(seed, left).foreach(queue += _)
    val seeds = boxes.indices.iterator.takeWhile(boxes(_).spread >= Wide)
    def more(): Boolean = {
      while (queue.size < MaxGroups && steps <= maxSteps && seeds.hasNext) {
        val seed = seeds.next()
        if (!taken(seed)) look(seed)
      }
      queue.nonEmpty
    }
    while (queue.nonEmpty || (left > 0 && more())) {
      val group = queue.dequeue()
      if (!taken(group.seed)) {
        // Others may have taken its files or its bytes meanwhile.
        if (group.bytes > left || group.members.exists(taken(_))) look(group.seed)
        else {
          group.members.foreach(taken(_) = true)
          left -= group.bytes
          val files = group.members.toSeq.map(i => PlannedFile(boxes(i).file, FileReason.Overlaps))
          parts += Part(files, group.gain)
        }
      }
    }
    parts.result()
  }

  /** The best group for a region around a file. */
  private def best(seed: Int, budget: Long): Option[Group] =
    boxes(seed).regions(options.fanOut).flatMap(bestIn(_, seed, budget)).maxByOption(_.gain)

  private def bestIn(region: Region, seed: Int, budget: Long): Option[Group] = {
    val within = inside(region, seed)
    val members = mutable.ArrayBuffer.empty[Int]
    val ids = mutable.Set.empty[String]
    val hull = new Hull(space.dimensions)
    var (bytes, farWiderBytes, reading, factor) = (0L, 0L, 0.0, 1.0)
    var farWider = 0
    var next = 2
    var (bestCount, bestGain, bestBytes) = (0, 0.0, 0L)
    var i = 0
    while (i < within.length && bytes <= budget) {
      val box = boxes(within(i))
      members += within(i)
      ids += box.cube
      hull.add(box)
      bytes += box.bytes
      reading += box.reading
      factor = math.max(factor, calibration.getOrElse(box.cube, 1.0))
      while (boxes(members(farWider)).spread >= FarWider * box.spread) {
        farWiderBytes += boxes(members(farWider)).bytes
        farWider += 1
      }
      // With many members, not each of them is tried as the last.
      if (members.length >= next && bytes <= budget) {
        next = members.length + 1 + members.length / Finely
        val count = math.max(1.0, bytes.toDouble / options.targetFileBytes)
        val gain = (reading - factor * hull.readingOf(count)) / count
        if (ids.size > 1 && pays(box, farWiderBytes, bytes, ids.size) &&
          gain >= minGain && gain > bestGain) {
          bestCount = members.length
          bestGain = gain
          bestBytes = bytes
        }
      }
      i += 1
    }
    Option.when(bestCount > 0)(
      Group(seed, members.take(bestCount).toArray, bestGain, bestBytes))
  }

  /** The files that are mostly in a region and free, the widest first.
    *
    * The middle of such a box is near the region in each column: its side is at most `1 / Inside` times
    * the region's, so it lies at most that part of half a side beyond an end which `Inside` leaves.
    */
  private[planning] def inside(region: Region, seed: Int): Array[Int] = {
    val near = byMiddle.indices.map { column =>
      val side = region.high(column) - region.low(column)
      val beyond = Slack + side * (0.5 - Inside) / Inside
      val from = firstAt(column, region.low(column) - beyond)
      (column, from, firstAt(column, region.high(column) + beyond))
    }
    val (column, from, until) = near.minBy { case (_, from, until) => until - from }
    // What each look costs is about that of so many comparisons.
    steps += until - from + LookSteps
    val order = byMiddle(column)
    val found = mutable.ArrayBuilder.make[Int]
    var next = from
    while (next < until) {
      val i = order(next)
      if (!taken(i) && (i == seed || boxes(i).within(region) >= Inside)) found += i
      next += 1
    }
    val all = found.result()
    java.util.Arrays.sort(all)
    all
  }

  /** The first place in `byMiddle` whose box has its middle at a rank or beyond. */
  private def firstAt(column: Int, rank: Double): Int = {
    val order = byMiddle(column)
    var (low, high) = (0, order.length)
    while (low < high) {
      val mid = (low + high) >>> 1
      if (boxes(order(mid)).middle(column) < rank) low = mid + 1 else high = mid
    }
    low
  }

  /** Whether a group rewrites enough wide bytes, or merges enough cubes: otherwise a trickle of rows
    * would rewrite the same files again and again.
    */
  private def pays(narrowest: FileBox, farWiderBytes: Long, bytes: Long, cubes: Int): Boolean =
    if (farWiderBytes == 0) cubes >= fanOut
    else {
      val share =
        if (narrowest.spread < Wide) MinWideBytes * mergeShare else fanOut - 1.0
      farWiderBytes >= share * (bytes - farWiderBytes)
    }
}

private object RegionalMerges {

  /** Files that are rewritten together.
    *
    * @param gain files that a query needn't read any more, for each file written
    */
  final case class Part(files: Seq[PlannedFile], gain: Double)

  /** A file is wide if its [[FileBox.spread]] is at least this: twice the area in two columns. */
  private val Wide = 1.34

  /** The share of a file's box that must be in the region of its group. */
  private[planning] val Inside = 0.35

  /** From one level to the next, files are so much narrower. */
  private val FarWider = 2.0

  /** Pairs of cubes could be rewritten in turns for ever. */
  private val MinFanOut = 3

  /** A smaller `mergeShare` would make so much of small gains that the same files were rewritten for
    * dozens of runs.
    */
  private val MinMergeShare = 0.1

  /** The smallest gain, as a multiple of `mergeShare`, in a table of few files. */
  private val MinGain = 0.4

  /** Wide bytes for each byte of the narrowest files, as a multiple of `mergeShare`: more than for a
    * whole merge, since what lies over a region's border is rewritten again.
    */
  private val MinWideBytes = 2.0

  /** A cube of so many files shows how well its columns can be cut. */
  private val MinMembers = 3

  /** So many groups are compared at a time. */
  private val MaxGroups = 512

  /** So many files are compared with regions at most, for all partitions together: some seconds.
    * The widest files come first. If too many of them can't be merged, others are never reached.
    */
  val MaxSteps: Long = 50000000L

  private val LookSteps = 64

  private val Finely = 64

  /** Ranks as integers, for sorting. */
  private val MiddleScale = (1L << 52).toDouble

  /** For rounding. */
  private val Slack = 1e-9

  /** @param seed    position of the file that it was made around
    * @param members positions, the widest first
    */
  final private case class Group(seed: Int, members: Array[Int], gain: Double, bytes: Long)
}
