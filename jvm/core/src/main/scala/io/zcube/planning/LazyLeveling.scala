package io.zcube.planning

import scala.annotation.tailrec

import io.zcube.layout.FileCount
import io.zcube.planning.PlannedFile.bytesOf

/** Merges cubes of like size, and into the largest only what is worth it, after lazy leveling
  * (N. Dayan, S. Idreos: "Dostoevsky", SIGMOD 2018).
  *
  *   - Fresh files become a cube. Where there are two small cubes already, and all fresh files have
  *     the right size, they wait until three lie over each other, or they are many: rewriting one
  *     alone would sort its rows, but let no query skip more files.
  *   - Once there are `fanOut` cubes of a size class, the new one among them, that lie over each other,
  *     they are merged, and the result may fill the next class. Cubes that lie beside each other, as
  *     those of data that comes in order, cost a query little and wait for 2.5 times as many.
  *   - Small cubes that spread over the largest partial cube are merged into it when together they
  *     have `mergeShare` of the bytes that they overlap there. Bytes count by the share of each
  *     file's box that is overlapped, so that data which is mostly later than the rest, and touches
  *     it at the edge only, never makes the old be rewritten.
  *   - A file of another cube that lies mostly within the new cube joins early if such files are few.
  *   - Nothing is merged into a stable cube.
  */
object LazyLeveling extends MergePolicy("leveled") {

  /** A file is concerned by others from this share of its box on. */
  private val Touched = 0.25

  /** Share of its bytes that a small cube must overlap of the largest to be spread over it. */
  private val SpreadOver = 0.5

  /** Of the largest cube: what overlaps less of it is beside it. */
  private val LeastOverlap = 0.05

  /** Of `fanOut`: how deep cubes must lie over each other, all but their uneven edges. */
  private val Deep = 0.8

  /** Fresh files of the right size wait until they lie so deep over each other: three of them at one
    * place.
    */
  private val Crowded = 2.5

  /** Small cubes that tell that appends keep coming, so that it pays to wait. */
  private val LeastSmall = 2

  /** Times `fanOut`: this many cubes are merged even if they lie beside each other. */
  private val Beside = 2.5

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]] = {
    val fresh = candidates.fresh
    val sorted = candidates.partial.sortBy(c => (-c.bytes, c.id))
    mergeIntoLargest(sorted, fresh, space, options) match {
      case Some(group) =>
        val taken = PlannedFile.pathsOf(group.iterator)
        Seq(group, fresh.filterNot(f => taken(f.file.path))).filter(_.nonEmpty)
      case None =>
        val ripe = if (mayWait(candidates, space, options)) Nil else fresh
        val group = mergeClasses(ripe, sorted.drop(1), space, options)
        Seq(group ++ overlapped(group, sorted, space, options)).filter(_.nonEmpty)
    }
  }

  private def mayWait(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Boolean = {
    val fresh = candidates.fresh
    candidates.partial.size > LeastSmall &&
    fresh.forall(f => f.reason == FileReason.Fresh && isRight(f.file, options)) &&
    (fresh.size < 2 || !areCrowded(fresh.map(_.file.ranges), Crowded, space, options))
  }

  /** Whether the boxes lie so deep over each other, or are many even if they lie side by side. */
  private def areCrowded(
      boxes: Seq[KeyRanges],
      deep: Double,
      space: => RankSpace,
      options: PlanOptions): Boolean =
    boxes.size >= Beside * options.fanOut || space.depth(boxes) >= deep

  /** Whether it is as large as if it had been laid out, with statistics that queries skip it by. */
  private def isRight(file: DataFile, options: PlanOptions): Boolean =
    file.ranges.dimensions > 0 && 2 * file.bytes >= options.targetFileBytes &&
      FileCount.of(
        file.bytes,
        options.targetFileBytes,
        file.rows.getOrElse(0L),
        options.maxRecords) == 1

  private def mergeIntoLargest(
      sorted: Seq[ZCube],
      fresh: Seq[PlannedFile],
      space: => RankSpace,
      options: PlanOptions): Option[Seq[PlannedFile]] =
    sorted.headOption.flatMap { largest =>
      val smalls = sorted.tail.map(_.files.map(PlannedFile(_, FileReason.SmallCube)))
      val spread = (smalls :+ fresh).filter { piece =>
        val shared = overlapOf(largest.files, piece, space).map { case (f, s) => f.bytes * s }.sum
        piece.nonEmpty && shared >= SpreadOver * bytesOf(piece) &&
        shared >= LeastOverlap * largest.bytes
      }.flatten
      val touched =
        overlapOf(largest.files, spread, space).collect { case (f, s) if s > Touched => f }
      val worth = bytesOf(spread) >= options.mergeShare * touched.iterator.map(_.bytes).sum
      Option.when(spread.nonEmpty && touched.nonEmpty && worth)(
        spread ++ touched.map(PlannedFile(_, FileReason.LargestCube)))
    }

  private def overlapOf(
      files: Seq[DataFile],
      piece: Seq[PlannedFile],
      space: => RankSpace): Seq[(DataFile, Double)] =
    if (piece.isEmpty) Nil
    else {
      val box = KeyRanges.union(piece.map(_.file.ranges))
      files.map(file => file -> space.overlap(file.ranges, box))
    }

  private def mergeClasses(
      fresh: Seq[PlannedFile],
      smalls: Seq[ZCube],
      space: => RankSpace,
      options: PlanOptions): Seq[PlannedFile] = {
    // Counted from what came last, not from the size of a file: appends of a hundredth of a file would
    // else all be of the lowest class until they fill some files, and be rewritten every time.
    val unit = math.max(
      1L,
      if (fresh.nonEmpty) bytesOf(fresh) else smalls.map(_.bytes).minOption.getOrElse(1L))
    def sizeClass(bytes: Long): Int = {
      val units = math.max(1.0, bytes.toDouble / unit)
      math.round(math.log(units) / math.log(options.fanOut.toDouble)).toInt
    }
    def enough(boxes: Seq[KeyRanges]): Boolean =
      boxes.size >= options.fanOut && areCrowded(boxes, Deep * options.fanOut, space, options)
    @tailrec
    def grow(batch: Seq[PlannedFile], left: Seq[ZCube]): Seq[PlannedFile] = {
      val batchClass = sizeClass(bytesOf(batch))
      val (peers, larger) = left.partition(c => sizeClass(c.bytes) <= batchClass)
      val box = KeyRanges.union(batch.map(_.file.ranges))
      if (peers.nonEmpty && enough(box +: peers.map(_.ranges))) {
        grow(batch ++ peers.flatMap(_.files).map(PlannedFile(_, FileReason.SmallCube)), larger)
      } else batch
    }
    if (fresh.nonEmpty) grow(fresh, smalls)
    else {
      // No new cube: the smallest class that is full, if any.
      smalls
        .groupBy(c => sizeClass(c.bytes))
        .toSeq
        .sortBy(_._1)
        .collectFirst { case (_, cubes) if enough(cubes.map(_.ranges)) => cubes }
        .map { cubes =>
          val batch = cubes.flatMap(_.files).map(PlannedFile(_, FileReason.SmallCube))
          grow(batch, smalls.filterNot(cubes.contains))
        }
        .getOrElse(Nil)
    }
  }

  /** Files of other partial cubes that lie mostly within the group, if they are few. */
  private def overlapped(
      group: Seq[PlannedFile],
      cubes: Seq[ZCube],
      space: => RankSpace,
      options: PlanOptions): Seq[PlannedFile] = {
    val taken = PlannedFile.pathsOf(group.iterator)
    val others = cubes.flatMap(_.files).filterNot(f => taken(f.path))
    val touched = overlapOf(others, group, space).collect { case (f, s) if s > Touched => f }
    val few = touched.size <= math.max(1, group.size) &&
      touched.iterator.map(_.bytes).sum <= options.overlapShare * bytesOf(group)
    if (few) touched.map(PlannedFile(_, FileReason.Overlaps)) else Nil
  }
}
