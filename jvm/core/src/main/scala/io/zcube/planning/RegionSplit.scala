package io.zcube.planning

import scala.annotation.tailrec

import io.zcube.quality.SortedIndexes

/** Divides files by the regions of space that they cover, so that the parts can be clustered one by
  * one and hardly overlap.
  *
  * A cut at a value of a column sends the files that begin below it to one side. Those that extend
  * beyond it straddle the cut: the two parts overlap there. Files in the order of a column have cuts
  * that nothing straddles; files in no order have none, and can only be clustered together.
  *
  * NULLs are below all values, and straddle no cut. Files with only NULLs in all columns overlap
  * nothing, so they may be anywhere among themselves.
  */
object RegionSplit {

  /** The parts, in order of the regions. A part stays above the target if all of its cuts are
    * straddled by too many bytes, if they are less than half a part from a border and would add a part,
    * or if a smaller part's cube would be merged again.
    *
    * A part is halved as evenly as possible, so that there are few rounds. But a value heavier than a
    * part may lie there, or files in no order: then the nearest multiple of a part that can be cut is. If
    * there is none, any value is where both sides together need no more parts.
    *
    * Example: ten files of 100 bytes that are sorted by a column, with a target of 300, are parts of
    * 2, 3, 2 and 3 files.
    *
    * @param maxStraddling how many bytes may straddle a cut, as a share of the smaller side's, 0 to 1
    * @param evenness what it is worth that parts are even: the straddling, as such a share, for each
    *   share of all bytes that a cut is off. Uneven parts add up to more parts, with more cuts
    * @param tolerance how far a file may reach over a cut and still belong to one side, as a share of its
    *   width, 0 to below 0.5. Jobs that laid out similar rows have cut them at nearly, but not exactly, the
    *   same values. It chooses among cuts and sides. What straddles a cut is counted by the bounds
    *   themselves, so that it permits no cut that `maxStraddling` forbids: numbers of floating point are
    *   compared by their bits, and a share of such a width may be nearly all of the rows. It may prevent
    *   single cuts, but where no multiple of a part would be left, it doesn't apply. Of a width, at most
    *   four times the median counts, since a single value far away, as a date that means "never", says
    *   nothing of other rows
    */
  def split(
      files: Seq[PlannedFile],
      sizes: CubeSizes,
      maxStraddling: Double,
      evenness: Double = 0,
      tolerance: Double = 0): Seq[Seq[PlannedFile]] = {
    val terms = Terms(sizes, maxStraddling, evenness, tolerance)
    val done = Seq.newBuilder[Seq[PlannedFile]]
    @tailrec
    def go(left: List[Array[PlannedFile]]): Unit = left match {
      case Nil =>
      case part :: rest =>
        cut(part, terms) match {
          case Some((low, high)) => go(low :: high :: rest)
          case None =>
            done += part.toSeq
            go(rest)
        }
    }
    if (files.nonEmpty) go(List(files.toArray))
    done.result()
  }

  /** What [[split]] is asked for. */
  private case class Terms(
      sizes: CubeSizes,
      maxStraddling: Double,
      evenness: Double,
      tolerance: Double)

  /** @param column its number
    * @param below  files that begin below it are on the low side
    * @param tolerance by which these files are determined
    * @param isMultiple whether the nearest multiple of a part is neither none nor all of the parts
    * @param away   how many parts that multiple is away from the middle; more than all others, if it is
    *   none
    * @param cost   bytes that straddle it by more than the tolerance, as a share of the smaller side's,
    *   and what unevenness costs
    * @param off    how far it is from the even position, in bytes
    */
  private case class Cut(
      column: Int,
      below: Long,
      tolerance: Double,
      isMultiple: Boolean,
      away: Double,
      cost: Double,
      off: Double)
      extends Ordered[Cut] {

    override def compare(other: Cut): Int = {
      val byPlace = java.lang.Double.compare(away, other.away)
      val byCost = if (byPlace != 0) byPlace else java.lang.Double.compare(cost, other.cost)
      if (byCost != 0) byCost else java.lang.Double.compare(off, other.off)
    }
  }

  private def cut(
      files: Array[PlannedFile],
      terms: Terms): Option[(Array[PlannedFile], Array[PlannedFile])] = {
    val total = PlannedFile.bytesOf(files)
    if (terms.sizes.count(total) < 2 || files.length < 2) None
    else {
      val columns = files.iterator.map(_.file.ranges.dimensions).max
      def best(tolerance: Double): Option[Cut] =
        (0 until columns)
          .flatMap(bestCut(files, _, total, terms.copy(tolerance = tolerance))).minOption
      val tolerant = best(terms.tolerance)
      lazy val exact = if (terms.tolerance > 0) best(0) else None
      val multiple = tolerant.filter(_.isMultiple).orElse(exact.filter(_.isMultiple))
      multiple.orElse(tolerant).orElse(exact).map { cut =>
        val lower = Bounds.of(files, cut.column).within(cut.tolerance).lower
        val (low, high) = Array.range(0, files.length).partition(lower(_) < cut.below)
        (low.map(files(_)), high.map(files(_)))
      }
    }
  }

  /** The best cut of a column, if one is straddled by few enough bytes. */
  private def bestCut(
      files: Array[PlannedFile],
      column: Int,
      total: Long,
      terms: Terms): Option[Cut] = {
    import terms._
    val parts = sizes.count(total).toDouble
    val middle = math.floor(parts / 2)
    val bounds = Bounds.of(files, column)
    val exact = new Sweep(files, bounds)
    val tolerant = if (tolerance == 0) exact else new Sweep(files, bounds.within(tolerance))
    var best: Option[Cut] = None
    for (at <- exact.begins) {
      exact.moveTo(at)
      tolerant.moveTo(at)
      val below = tolerant.below
      if (below >= sizes.min && total - below >= sizes.min) {
        // Half a part to either side belongs to a multiple; of two, to the one nearer to the middle.
        val place = below * parts / total
        val multiple = if (place < middle) math.floor(place + 0.5) else math.ceil(place - 0.5)
        val isMultiple = multiple > 0 && multiple < parts
        val nearest = math.min(math.max(multiple, 1), parts - 1)
        val off = math.abs(below - total * nearest / parts)
        val away = if (isMultiple) math.abs(multiple - middle) else parts
        // All files of the lower side may straddle it, so a share of both would be misleading.
        def share(straddling: Long) = straddling.toDouble / math.min(below, total - below)
        val cost = share(tolerant.straddling) + evenness * off / total
        // What is less than half a part may leave as many parts as there are.
        val isPart = isMultiple || sizes.count(below) + sizes.count(total - below) <= parts
        val isCut = isPart && share(exact.straddling) <= maxStraddling
        val cut = Cut(column, at, tolerance, isMultiple, away, cost, off)
        if (isCut && best.forall(cut < _)) best = Some(cut)
      }
    }
    best
  }

  /** The bytes of the files that begin below a value, and of those that straddle it, as the value grows.
    *
    * Files begin in the order of their lower bounds, and stop straddling in the order of their upper
    * bounds.
    */
  private class Sweep(files: Array[PlannedFile], bounds: Bounds) {
    import bounds.{lower, upper}

    private val all = Array.range(0, files.length)
    private val byLower = SortedIndexes.of(all, lower(_))
    // Of the files that end at a value, those of this value alone come last.
    private val byUpper = SortedIndexes.of(
      all,
      upper(_),
      Some((a, b) => java.lang.Long.compare(lower(a), lower(b))))
    private var nextBegin = 0
    private var nextEnd = 0
    private var ended = 0L

    var below = 0L

    def straddling: Long = below - ended

    /** Where files begin, ascending. */
    def begins: Array[Long] = {
      val all = byLower.map(lower(_))
      Array.range(0, all.length).filter(i => i == 0 || all(i) > all(i - 1)).map(all(_))
    }

    def moveTo(at: Long): Unit = {
      while (nextBegin < byLower.length && lower(byLower(nextBegin)) < at) {
        below += files(byLower(nextBegin)).file.bytes
        nextBegin += 1
      }
      // A file that ends at the value hardly overlaps the files that begin there.
      def hasEnded(i: Int) = upper(i) <= at && lower(i) < at
      while (nextEnd < byUpper.length && hasEnded(byUpper(nextEnd))) {
        ended += files(byUpper(nextEnd)).file.bytes
        nextEnd += 1
      }
    }
  }

  /** Where files begin and end in a column: those with only NULLs below all others, and those without
    * bounds at the very ends.
    */
  final private class Bounds(val lower: Array[Long], val upper: Array[Long]) {
    import Bounds.{LastOfNulls, Unknown}

    /** The same, with the sides taken off over which a file may reach over a cut. */
    def within(tolerance: Double): Bounds =
      if (tolerance == 0) this
      else {
        val widths = Array.tabulate(lower.length)(width)
        // Single values count: where most files have one, others are the exceptions.
        val known = widths.filter(_ != Unknown).sorted
        val most = if (known.isEmpty) 0.0 else 4.0 * known((known.length - 1) / 2)
        val insets =
          widths.map(width => (math.max(0.0, math.min(width.toDouble, most)) * tolerance).toLong)
        new Bounds(
          Array.tabulate(lower.length)(i => lower(i) + insets(i)),
          Array.tabulate(upper.length)(i => upper(i) - insets(i)))
      }

    private def width(i: Int): Long =
      if (lower(i) <= LastOfNulls || upper(i) == Long.MaxValue) Unknown
      else {
        val width = upper(i) - lower(i)
        if (width < 0) Long.MaxValue else width
      }
  }

  private object Bounds {

    /** A width, where a bound isn't known or there are only NULLs. */
    val Unknown: Long = -1L

    /** Files with only NULLs begin and end at most here. */
    val LastOfNulls: Long = Long.MinValue + Int.MaxValue

    def of(files: Array[PlannedFile], column: Int): Bounds =
      new Bounds(files.map(begins(_, column)), files.map(ends(_, column)))
  }

  private def begins(file: PlannedFile, column: Int): Long = {
    val ranges = file.file.ranges
    if (ranges.isNull) Long.MinValue + (file.file.path.hashCode & Int.MaxValue)
    else if (column >= ranges.dimensions || ranges.isEmpty(column)) Long.MinValue
    else ranges.lower(column)
  }

  private def ends(file: PlannedFile, column: Int): Long = {
    val ranges = file.file.ranges
    if (ranges.isEmpty(column)) begins(file, column)
    else if (column < ranges.dimensions) ranges.upper(column)
    else Long.MaxValue
  }
}
