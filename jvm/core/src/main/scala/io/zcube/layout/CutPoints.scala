package io.zcube.layout

import java.util.Arrays

/** The positions where a sequence of rows, ordered by clustering key, is cut into files.
  *
  * File `f` holds the rows with `cut(f - 1) <= (key, noise) < cut(f)`, compared first by key and
  * then by noise. The noise, a number in [0, 65536) that depends only on the row's position in its
  * input, matters only where a cut falls far inside the rows of one key; everywhere else a cut's
  * noise is 0, and a key isn't split.
  *
  * @param keys  key of each cut, ascending
  * @param noise noise of each cut; ascending among equal keys
  */
final class CutPoints private (keys: Array[Long], noise: Array[Int]) extends Serializable {

  /** Number of files. */
  def files: Int = keys.length + 1

  /** Whether some key is spread over more than one file, so that rows need a noise value. */
  val splitsKeys: Boolean = noise.exists(_ != 0)

  /** The noise of a sampled row, from its position in the sample: rows of a key that is spread over
    * files alternate. In a run, a hash of the row's position in its input decides.
    */
  def turn(position: Int): Int = if (splitsKeys) (position * CutPoints.GoldenRatio) >>> 16 else 0

  /** The cuts as pairs of key and noise. */
  def cuts: Seq[(Long, Int)] = keys.toSeq.zip(noise.toSeq)

  /** File of a row: the number of cuts at or below (key, noise). Allocates nothing.
    *
    * @param rowNoise may be 0 unless [[splitsKeys]]
    */
  def fileOf(key: Long, rowNoise: Int): Int = {
    var low = 0
    var high = keys.length
    while (low < high) {
      val middle = (low + high) >>> 1
      val cut = keys(middle)
      if (cut < key || (cut == key && noise(middle) <= rowNoise)) low = middle + 1
      else high = middle
    }
    low
  }
}

object CutPoints {

  /** 2^32 over the golden ratio: its multiples spread evenly (D. E. Knuth, TAOCP 3, 6.4). */
  private val GoldenRatio = 0x9e3779b9

  /** Noise values are in [0, NoiseRange). */
  val NoiseRange: Int = 1 << 16

  /** How far, in files, a cut may move from its even position to a better one. A file between two
    * moved cuts then deviates from the mean by at most 12 %, which leaves room for sampling error
    * below 25 %.
    */
  val Slack: Double = 0.06

  /** The same, and to keep a key whole, where a limit of rows leaves little room. */
  private val SlackIfTight = 0.02

  /** Cuts at the given positions; for tests and for layouts that choose their cuts themselves. */
  def at(cuts: Seq[(Long, Int)]): CutPoints =
    new CutPoints(cuts.map(_._1).toArray, cuts.map(_._2).toArray)

  /** Cuts the sampled keys into `files` parts of even size.
    *
    * Within `slack` of its even position, a cut takes the boundary between two different keys
    * that differ in the highest bit: there the curve leaves the largest aligned block, so the
    * bounding boxes on both sides shrink. Where a single key fills that whole window, the key
    * itself is cut by noise or, unless `rules.splitsValues`, kept in one file.
    *
    * Cost: a sort of the sample and one pass.
    *
    * @param sample keys of the sampled rows, in any order; not changed
    * @param files  number of files wanted, at least 1; fewer come out when there are fewer keys
    *               and keys aren't split
    * @param slack  how far, in files, a cut may move to where the curve's boxes end; at most
    *   0.02 if `rules.isTight`
    * @param rules  where files may be cut; a key stands for the values
    */
  def of(
      sample: Array[Long],
      files: Int,
      rules: CutRules = CutRules(),
      slack: Double = Slack): CutPoints = {
    require(files >= 1, s"files must be positive, not $files")
    if (files == 1 || sample.isEmpty) {
      at(Nil)
    } else {
      val sorted = sample.clone()
      Arrays.sort(sorted)
      val perFile = sorted.length.toDouble / files
      val room = if (rules.isTight) math.min(slack, SlackIfTight) else slack
      // Without spreading, a key is kept whole, and best at its closer end.
      val roomForKey = if (rules.isTight && rules.splitsValues) SlackIfTight else WholeKeySlack
      val cuts = (1 until files).flatMap { f =>
        val middle = f * perFile
        val from = math.max(1, math.ceil(middle - room * perFile).toInt)
        val to = math.min(sorted.length - 1, math.floor(middle + room * perFile).toInt)
        boundary(sorted, from, to, middle)
          .orElse(nearestBoundary(sorted, middle, roomForKey * perFile))
          .map(at => (sorted(at), 0))
          .orElse(if (rules.splitsValues) Some(tear(sorted, middle)) else nextKey(sorted, middle))
      }
      at(cuts.distinct.sorted)
    }
  }

  /** The best position p in [from, to] with sorted(p - 1) < sorted(p). */
  private def boundary(sorted: Array[Long], from: Int, to: Int, middle: Double): Option[Int] = {
    var best = -1
    var bestBit = -1
    var p = from
    while (p <= to) {
      val differing = sorted(p - 1) ^ sorted(p)
      if (differing != 0) {
        val bit = 63 - java.lang.Long.numberOfLeadingZeros(differing)
        if (bit > bestBit || (bit == bestBit && math.abs(p - middle) < math.abs(best - middle))) {
          best = p
          bestBit = bit
        }
      }
      p += 1
    }
    Option.when(best >= 0)(best)
  }

  /** The closer end of the run of equal keys around `middle`, if it is close enough to keep the key
    * whole at the price of a slightly uneven file, or if the run is too short in the sample to
    * estimate its share.
    */
  private def nearestBoundary(
      sorted: Array[Long],
      middle: Double,
      room: Double): Option[Int] = {
    val (start, end) = run(sorted, math.min(sorted.length - 1, middle.toInt))
    val ends = Seq(start, end).filter(p => p > 0 && p < sorted.length)
    val near = if (end - start <= SmallRun) ends
    else ends.filter(near => math.abs(near - middle) <= room)
    near.minByOption(p => math.abs(p - middle))
  }

  /** How far, in files, a cut may move to keep a key whole. */
  private val WholeKeySlack = 0.09

  /** Runs with at most this many sampled rows are never split. */
  private val SmallRun = 8

  private def tear(sorted: Array[Long], middle: Double): (Long, Int) = {
    val at = math.min(sorted.length - 1, middle.toInt)
    val (start, end) = run(sorted, at)
    val fraction = (middle - start) / (end - start)
    (sorted(at), math.max(1, math.min(NoiseRange - 1, (fraction * NoiseRange).toInt)))
  }

  /** The first key above the one at `middle`, so that the latter stays whole. */
  private def nextKey(sorted: Array[Long], middle: Double): Option[(Long, Int)] = {
    val (_, end) = run(sorted, math.min(sorted.length - 1, middle.toInt))
    Option.when(end < sorted.length)((sorted(end), 0))
  }

  /** The run [start, end) of keys equal to the one at `at`. */
  private def run(sorted: Array[Long], at: Int): (Int, Int) = {
    val key = sorted(at)
    (
      firstAtLeast(sorted, key, 0),
      if (key == Long.MaxValue) sorted.length else firstAtLeast(sorted, key + 1, at))
  }

  /** The first position at or after `from` with a key of at least `key`. */
  private def firstAtLeast(sorted: Array[Long], key: Long, from: Int): Int = {
    var low = from
    var high = sorted.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (sorted(middle) < key) low = middle + 1 else high = middle
    }
    low
  }
}
