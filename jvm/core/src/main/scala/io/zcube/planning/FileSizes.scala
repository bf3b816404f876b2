package io.zcube.planning

import scala.annotation.tailrec

import io.zcube.layout.FileCount

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
    badOf(members, members.size + rest.files, countOf(bytes, rows))
  }

  private def badOf(members: Seq[DataFile], files: Long, wanted: Int): Seq[DataFile] =
    if (files > 2L * wanted + 1) members.filter(isSmall)
    else if (2L * files < wanted) members.filter(isLarge)
    else Nil

  /** Those of the badly sized files that get closer to the target if all of them are rewritten
    * together, and with the fresh files. Without this a run could rewrite the same files as the run
    * before it, for ever.
    *
    * Example: files of 0.3 and of 3 targets that have the same number of rows stay as they are.
    */
  @tailrec
  def worthwhile(
      bad: Seq[DataFile],
      fresh: Seq[DataFile],
      passes: Int = MostPasses): Seq[DataFile] = {
    // Fresh files without row counts can't be considered.
    val together = bad ++ (if (rowsOf(fresh).isDefined) fresh else Nil)
    rowsOf(together) match {
      case _ if bad.isEmpty || passes == 0 => Nil
      case None => badOf(bad, bad.size.toLong, countOf(bytesOf(bad), None))
      case Some(rows) =>
        val each = rows.toDouble / countOf(bytesOf(together), Some(rows))
        val better = bad.filter { file =>
          val after = file.bytes / math.max(1.0, file.rows.get.toDouble) * each
          // Too much is as bad as too little. Fresh files may have rows of another length, and are
          // there only once.
          if (isSmall(file))
            after >= math.min(2.0 * file.bytes, target / 2.0) &&
            (fresh.nonEmpty || after <= 2.0 * target)
          else
            after <= math.max(file.bytes / 2.0, 2.0 * target) &&
            (fresh.nonEmpty || after >= target / 2.0)
        }
        if (better.size == bad.size) bad else worthwhile(better, fresh, passes - 1)
    }
  }

  private def isSmall(file: DataFile): Boolean = file.bytes < target / 2

  private def isLarge(file: DataFile): Boolean = file.bytes > target * 2

  private def countOf(bytes: Long, rows: Option[Long]): Int =
    FileCount.of(
      bytes,
      target,
      rows.getOrElse(Long.MaxValue),
      if (rows.isEmpty) 0L else options.maxRecords)

  private def bytesOf(files: Seq[DataFile]): Long = files.iterator.map(_.bytes).sum

  /** None if a file lacks statistics. */
  private def rowsOf(files: Seq[DataFile]): Option[Long] =
    Option.when(files.forall(_.rows.isDefined))(files.iterator.map(_.rows.get).sum)
}

private object FileSizes {

  /** Each pass drops files, usually in one or two passes. */
  private val MostPasses = 20
}
