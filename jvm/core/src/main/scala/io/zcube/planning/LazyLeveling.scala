package io.zcube.planning

import scala.annotation.tailrec

import io.zcube.planning.PlannedFile.bytesOf

/** Merges cubes of similar size, and merges into the largest only what is worth it, after lazy
  * leveling (N. Dayan, S. Idreos: "Dostoevsky", SIGMOD 2018).
  *
  *   - Fresh files become a cube. If there are already two small cubes and all fresh files have the
  *     right size, they wait until three overlap, six if they lie beside the largest cube, or there
  *     are many: rewriting one alone would sort its rows, but queries wouldn't skip more files.
  *   - Once `fanOut` cubes of a size class overlap, including the new one, they are merged, and the
  *     result may fill the next class. Disjoint cubes, such as those of data that arrives in order,
  *     cost queries little and wait for three times as many.
  *   - Small cubes that are spread over the largest partial cube are merged into it once together
  *     they have `mergeShare` of the bytes that they overlap there. Bytes count by the overlapped
  *     share of each file's box, so that data that is mostly later than the rest, and touches it
  *     only at the edge, never causes old data to be rewritten. A small cube that lies around the
  *     largest, or in its gaps, isn't over it: so a merged region of a cube and what is left of that
  *     cube stay apart.
  *   - A file of another cube that lies within the new cube by more than a quarter joins early if such
  *     files are few.
  *   - Nothing is merged into a stable cube.
  */
object LazyLeveling extends MergePolicy("leveled") {

  /** A file is affected by others if they overlap at least this share of its box. */
  private val Touched = 0.25

  /** The share of its bytes with which a small cube must overlap the largest to be spread over it.
    */
  private val SpreadOver = 0.5

  /** The required depth of overlapping cubes, as a share of `fanOut`, to allow for uneven edges. */
  private val Deep = 0.8

  /** Fresh files of the right size wait until they overlap to this depth: three at one point. */
  private val Crowded = 2.5

  /** The same of files that lie beside the largest cube, where few queries read them: six. */
  private val CrowdedBeside = 5.5

  /** Files are beside a cube if less than this share of their boxes is over it. */
  private val MostlyBeside = 0.5

  /** So many files of a piece show where it lies. */
  private val Sample = 256

  /** The number of small cubes that indicates continuing appends, so that waiting pays off. */
  private val MinSmall = 2

  /** This many times `fanOut` cubes are merged even if they are disjoint. */
  private val Beside = 3.0

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]] = {
    val due = candidates.due
    // What has only NULLs overlaps nothing, so that nothing could be merged into it.
    val sorted = candidates.partial.sortBy(c =>
      (-DataFile.bytesOf(c.files.filterNot(_.ranges.isNull)), c.id))
    mergeIntoLargest(sorted, due, space, options) match {
      case Some(group) =>
        val taken = PlannedFile.pathsOf(group.iterator)
        Seq(group, due.filterNot(f => taken(f.file.path))).filter(_.nonEmpty)
      case None =>
        val ripe = if (mayWait(candidates, space, options)) Nil else due
        val group = mergeClasses(ripe, sorted.drop(1), space, options)
        Seq(group ++ overlapped(group, sorted, space, options)).filter(_.nonEmpty)
    }
  }

  private def mayWait(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Boolean = {
    val due = candidates.due
    candidates.partial.size > MinSmall &&
    due.forall(f => f.reason == FileReason.Fresh && isRight(f.file, options)) &&
    (due.size < 2 || {
      def areDeep(deep: Double) = areCrowded(due.map(_.file.ranges), deep, space, options)
      !areDeep(Crowded) ||
      (!areDeep(CrowdedBeside) && isBeside(due, candidates.partial.maxBy(_.bytes), space))
    })
  }

  /** Whether most of the files' boxes is outside of the cube's. */
  private def isBeside(due: Seq[PlannedFile], cube: ZCube, space: => RankSpace): Boolean = {
    val over = overlapOf(due.map(_.file), cube.files, space).map { case (f, s) => f.bytes * s }
    over.sum < MostlyBeside * bytesOf(due)
  }

  /** Whether the boxes overlap to this depth, or there are many of them even if disjoint. */
  private def areCrowded(
      boxes: Seq[KeyRanges],
      deep: Double,
      space: => RankSpace,
      options: PlanOptions): Boolean =
    boxes.size >= Beside * options.fanOut || space.depth(boxes) >= deep

  /** Whether it already has the target size, statistics and few deleted rows, so that a rewrite
    * wouldn't help.
    */
  private def isRight(file: DataFile, options: PlanOptions): Boolean =
    file.ranges.dimensions > 0 && 2 * file.bytes >= options.targetFileBytes &&
      options.fileCount(file.bytes, file.rows) == 1 && file.deletedShare <= options.maxDeletedShare

  private def mergeIntoLargest(
      sorted: Seq[ZCube],
      due: Seq[PlannedFile],
      space: => RankSpace,
      options: PlanOptions): Option[Seq[PlannedFile]] =
    sorted.headOption.flatMap { largest =>
      val smalls = sorted.tail.map(_.files.map(PlannedFile(_, FileReason.SmallCube)))
      val around = (smalls :+ due).filter { piece =>
        val shared = overlapOf(largest.files, piece.map(_.file), space)
          .map { case (f, s) => f.bytes * s }.sum
        // All of the cube is enough: of more than that, it would else be merged in the next run.
        piece.nonEmpty && shared >= SpreadOver * math.min(bytesOf(piece), largest.bytes) &&
        shared >= RankSpace.MinOverlap * largest.bytes
      }
      val spread = reached(largest, around, space).flatten
      val touched =
        overlapOf(largest.files, spread.map(_.file), space)
          .collect { case (f, s) if s > Touched => f }
      val worth = bytesOf(spread) >= options.mergeShare * touched.iterator.map(_.bytes).sum
      Option.when(spread.nonEmpty && touched.nonEmpty && worth)(
        spread ++ touched.map(PlannedFile(_, FileReason.LargestCube)))
    }

  /** The pieces of new files, and those that aren't beside the cube's files or the box of such a piece.
    *
    * Example: of a cube over 0 to 299, appends over 60 to 239 are merged with the files there. The box
    * of the files that are left is still 0 to 299, and has all of the new cube in it, but none of them
    * is over that, or over further appends to 60 to 239. They are over appends to 0 to 299.
    */
  private def reached(
      cube: ZCube,
      pieces: Seq[Seq[PlannedFile]],
      space: => RankSpace): Seq[Seq[PlannedFile]] = {
    @tailrec
    def beside(left: Seq[Seq[PlannedFile]], boxes: Seq[KeyRanges]): Seq[Seq[PlannedFile]] = {
      val (over, others) =
        left.partition(piece => shareOver(piece, boxes, space) >= MostlyBeside)
      if (over.isEmpty) others else beside(others, over.flatMap(p => boxesOf(p.map(_.file))))
    }
    // New files are judged by the box that they will fill. Those of the cube itself, because of
    // deleted rows or by an update, lie in the gaps that they leave there.
    val (renewed, small) = pieces.partition(_.exists(_.reason != FileReason.SmallCube))
    val over = cube.files.map(_.ranges) ++ renewed.flatMap(p => boxesOf(p.map(_.file)))
    val left = beside(small, over)
    pieces.filterNot(piece => left.exists(_ eq piece))
  }

  /** The share of a piece's bytes in files that lie over these boxes: whose own box is in them, or that
    * have one of them in their own. Of data along a diagonal, large boxes are hardly covered by small
    * ones. Files with only NULLs don't count.
    */
  private def shareOver(
      piece: Seq[PlannedFile],
      boxes: Seq[KeyRanges],
      space: => RankSpace): Double = {
    val valued = piece.map(_.file).filterNot(_.ranges.isNull)
    val step = math.max(1, valued.size / Sample)
    val some =
      if (step == 1) valued
      else valued.sortBy(_.path).zipWithIndex.collect { case (f, i) if i % step == 0 => f }
    val over = some.iterator.map { file =>
      var (within, around) = (0.0, 0.0)
      val others = boxes.iterator
      // Of what is around a small box, the first one is enough.
      while (others.hasNext && within < 1.0 && around < 1.0) {
        val other = others.next()
        val share = space.overlap(other, file.ranges)
        if (share > 0.0) {
          around += share
          if (around < 1.0) within += space.overlap(file.ranges, other)
        }
      }
      file.bytes * math.min(1.0, math.max(within, around))
    }.sum
    over / math.max(1L, DataFile.bytesOf(some))
  }

  /** The box around a piece. NULLs have a box of their own. */
  private def boxesOf(piece: Seq[DataFile]): Seq[KeyRanges] =
    KeyRanges.byNulls(piece.map(_.ranges))(identity).map(KeyRanges.union)

  /** The share of each file's box that is in the box of a piece. */
  private def overlapOf(
      files: Seq[DataFile],
      piece: Seq[DataFile],
      space: => RankSpace): Seq[(DataFile, Double)] =
    if (piece.isEmpty) Nil
    else {
      val boxes = boxesOf(piece)
      files.map(file => file -> boxes.iterator.map(space.overlap(file.ranges, _)).max)
    }

  private def mergeClasses(
      due: Seq[PlannedFile],
      smalls: Seq[ZCube],
      space: => RankSpace,
      options: PlanOptions): Seq[PlannedFile] = {
    // Counted from the newest cube, not from the size of a file: otherwise appends of a hundredth
    // of a file would all be in the lowest class until they fill some files, and be rewritten every
    // time.
    val unit = math.max(
      1L,
      if (due.nonEmpty) bytesOf(due) else smalls.map(_.bytes).minOption.getOrElse(1L))
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
    if (due.nonEmpty) grow(due, smalls)
    else {
      // Without a new cube: the smallest full class, if any.
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

  /** Files of other partial cubes that are affected by the group, if they are few. */
  private def overlapped(
      group: Seq[PlannedFile],
      cubes: Seq[ZCube],
      space: => RankSpace,
      options: PlanOptions): Seq[PlannedFile] = {
    val taken = PlannedFile.pathsOf(group.iterator)
    val others = cubes.flatMap(_.files).filterNot(f => taken(f.path))
    val touched =
      overlapOf(others, group.map(_.file), space).collect { case (f, s) if s > Touched => f }
    val few = touched.size <= math.max(1, group.size) &&
      touched.iterator.map(_.bytes).sum <= options.overlapShare * bytesOf(group)
    if (few) touched.map(PlannedFile(_, FileReason.Overlaps)) else Nil
  }
}
