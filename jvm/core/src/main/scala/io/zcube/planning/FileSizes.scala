package io.zcube.planning

import scala.annotation.tailrec
import scala.collection.mutable

import io.zcube.planning.DataFile.{bytesOf, rowsOf}

/** Which files are far from the target size, and whether a rewrite would change that.
  *
  * A layout gives each file about the same number of rows. Where rows of one region are much longer
  * than those of another, files differ in bytes however often they are rewritten together.
  */
final private[planning] class FileSizes(options: PlanOptions) {
  import FileSizes._

  private val target = options.targetFileBytes

  /** Files of a cube far from the target size, if rewriting the cube by itself would bring them
    * closer. A small cube has small files and is fine as it is: otherwise every run would rewrite
    * it.
    */
  def badOf(members: Seq[DataFile], rest: CubeRest): Seq[DataFile] = {
    val rows = for (of <- rowsOf(members); others <- rest.rows) yield of + others
    val bytes = bytesOf(members) + rest.bytes
    badOf(members, members.size + rest.files, options.fileCount(bytes, rows))
  }

  private def badOf(members: Seq[DataFile], files: Long, wanted: Int): Seq[DataFile] =
    if (files > 2L * wanted + 1) members.filter(isSmall)
    else if (2L * files < wanted) members.filter(isLarge)
    else Nil

  /** Badly sized files that get closer to the target if all of them are rewritten together, and with
    * the fresh files. Without this a run could rewrite the same files as the run before it,
    * indefinitely.
    *
    * Example: of files of 0.3 and of 3 targets that have the same number of rows, the small ones are
    * rewritten first, the large ones in the next run.
    */
  def worthwhile(bad: Seq[DataFile], due: Seq[DataFile]): Seq[DataFile] =
    // Fresh files without row counts can't be considered.
    worthwhile(
      bad,
      if (rowsOf(due).isDefined) due else Nil,
      mayOvershoot = due.nonEmpty,
      MaxPasses)

  /** A group without its badly sized files wouldn't do what they are rewritten for if the policy adds
    * others to them, with rows of other lengths. So it is the group as it is if they still get closer
    * to the target; or they and the fresh files alone if they are a stable cube, to which no later run
    * adds anything; otherwise None.
    *
    * Example: 324 files of 2.4 targets, and a cube of 60 files of one target that lies between them and
    * has as many rows as they have. With these, the large files would become no smaller, and the others
    * a tenth of the target, so that the next run would rewrite them back.
    */
  def kept(group: Seq[PlannedFile]): Option[Seq[PlannedFile]] = {
    val (bad, others) = group.partition(_.reason == FileReason.FileSize)
    val due = others.filter(file => file.reason.isDue)
    def areWorthwhile(more: Seq[PlannedFile]) = worthwhile(
      bad.map(_.file),
      more.map(_.file),
      mayOvershoot = due.nonEmpty,
      MaxPasses).size == bad.size
    if (bad.isEmpty || areWorthwhile(others)) Some(group)
    else {
      val alone = bad ++ due
      Option.when(PlannedFile.bytesOf(alone) >= options.minCubeBytes && areWorthwhile(due))(alone)
    }
  }

  /** @param others what is rewritten with them
    * @param mayOvershoot whether the others have rows of another length that are there only once
    */
  @tailrec
  private def worthwhile(
      bad: Seq[DataFile],
      others: Seq[DataFile],
      mayOvershoot: Boolean,
      passes: Int): Seq[DataFile] = {
    val together = bad ++ others
    rowsOf(together) match {
      case _ if bad.isEmpty || passes == 0 => Nil
      // How many files they become depends on the limit.
      case None if options.maxRecords > 0 => Nil
      case None => badOf(bad, bad.size.toLong, options.fileCount(bytesOf(bad), None))
      case Some(rows) =>
        val each = rows.toDouble / options.fileCount(bytesOf(together), Some(rows))
        def after(file: DataFile) = file.bytes * each / math.max(1L, file.rows.get)
        val worse = bad.filterNot(f => getsCloser(f, after(f), mayOvershoot))
        // Those that would be too large are dropped first: without them the others may get closer.
        val tooLarge = worse.filter(after(_) > target)
        val dropped =
          (if (tooLarge.isEmpty) worse else tooLarge).iterator.map(_.path).to(mutable.HashSet)
        if (dropped.isEmpty) bad
        else worthwhile(bad.filterNot(f => dropped(f.path)), others, mayOvershoot, passes - 1)
    }
  }

  /** @param after its size if it gets as many rows as the others
    * @param mayOvershoot too much is as bad as too little, but fresh files may have rows of another
    *   length, and are there only once
    */
  private def getsCloser(file: DataFile, after: Double, mayOvershoot: Boolean): Boolean =
    if (file.rows.contains(0L)) true
    else if (isSmall(file))
      after >= math.min(2.0 * file.bytes, target / 2.0) && (mayOvershoot || after <= 2.0 * target)
    else
      after <= math.max(file.bytes / 2.0, 2.0 * target) && (mayOvershoot || after >= target / 2.0)

  private def isSmall(file: DataFile): Boolean = file.bytes < target / 2

  /** Where rows with the same values stay together, a file may be large because of one value. With rows
    * about as large as the target, any value may be one.
    */
  private def isLarge(file: DataFile): Boolean = file.bytes > target * 2 && options.splitsValues &&
    file.rows.forall(rows => rows.toDouble * target >= FileSizes.MinRows.toDouble * file.bytes)
}

private object FileSizes {

  /** A file isn't too large if fewer of its rows make a file of the target size. */
  private val MinRows = 3

  /** Each pass drops files; random tables took up to 22. */
  private val MaxPasses = 100
}
