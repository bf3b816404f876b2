package io.zcube.planning

import io.zcube.layout.FileCount

/** The inputs of planning besides the files. Sizes are in bytes.
  *
  * @param policy          how cubes are merged
  * @param targetFileBytes size of the files to be written
  * @param maxRecords      most rows of a file; 0 for no limit
  * @param minCubeBytes    a cube of at least this size is stable: nothing is merged into it
  * @param targetCubeBytes size up to which a new cube is filled, at least `minCubeBytes`
  * @param dueBelow        files of no cube, or of one by other columns, are rewritten only if they have
  *   fewer bytes; None for all
  * @param maxDeletedShare a file with a larger share of deleted rows is due
  * @param fanOut          a size class is merged once it has this many cubes, and these overlap; whether
  *   they do is up to the policy
  * @param mergeShare small cubes are merged into the largest once together they have this share of
  *   the bytes that they overlap there
  * @param overlapShare    files that a new cube overlaps join it early up to this share of its bytes
  * @param maxBytes        maximum number of bytes to rewrite, of rows that are not deleted
  * @param maxJobBytes     maximum number of bytes that one job rewrites, though at least a cube's
  * @param maxJobFiles     maximum number of files that one job writes, though at least a cube's
  * @param otherColumns    whether files clustered by other columns are rewritten too
  * @param otherLayouts whether files clustered by the same columns, but with another curve, weights
  *   or workload, are rewritten too
  * @param splitsValues    whether rows with the same values may be in several files
  * @param resizes         whether files of cubes are rewritten because of their sizes
  * @param regrouping      what is done with cubes of jobs that overlap
  * @param force           whether everything is rewritten, regardless of its state
  */
final case class PlanOptions(
    policy: MergePolicy = LazyLeveling,
    targetFileBytes: Long = 1L << 30,
    maxRecords: Long = 0,
    minCubeBytes: Long = 100L << 30,
    targetCubeBytes: Long = 150L << 30,
    dueBelow: Option[Long] = None,
    maxDeletedShare: Double = 0.05,
    fanOut: Int = 4,
    mergeShare: Double = 0.2,
    overlapShare: Double = 0.1,
    maxBytes: Option[Long] = None,
    maxJobBytes: Long = 10L << 40,
    maxJobFiles: Int = 10000,
    otherColumns: Boolean = false,
    otherLayouts: Boolean = false,
    splitsValues: Boolean = true,
    resizes: Boolean = true,
    regrouping: Regrouping = Regrouping.Now,
    force: Boolean = false) {
  require(fanOut >= 2, s"fanOut must be at least 2, not $fanOut")
  require(mergeShare > 0, s"mergeShare must be positive, not $mergeShare")

  /** A cube has a file at least. */
  val cubeSizes: CubeSizes = CubeSizes(
    stable = minCubeBytes,
    target = Seq(targetCubeBytes, minCubeBytes, targetFileBytes).max)

  /** The number of files for that many bytes and rows; `rows` is None if statistics are missing. */
  def fileCount(bytes: Long, rows: Option[Long]): Int = {
    val (known, limit) = rowsAndLimit(rows)
    FileCount.of(bytes, targetFileBytes, known, limit)
  }

  /** The same before it is limited to what one job can write. */
  def unlimitedFileCount(bytes: Long, rows: Option[Long]): Double = {
    val (known, limit) = rowsAndLimit(rows)
    FileCount.unlimited(bytes, targetFileBytes, known, limit)
  }

  private def rowsAndLimit(rows: Option[Long]): (Long, Long) =
    rows.fold((Long.MaxValue, 0L))(_ -> maxRecords)
}

object PlanOptions {

  /** What applies where nothing is set: ZCube's settings have their defaults from here. */
  val Default: PlanOptions = PlanOptions()
}
