package io.zcube.layout

/** How many files a group of rows is written to. */
object FileCount {

  /** The mean file size may exceed the target by this factor; the rest of 1.25 is for uneven files.
    */
  private val MaxOver = 1.05

  /** Cuts come from a sample, so with a row limit the planned size stays this far below the limit.
    */
  private val RecordsHeadroom = 0.9

  /** The smallest number of files whose mean stays within 1.05 times `targetBytes` and below
    * `maxRecords` rows: bytes / target rounded down for many files (as Delta does), rounded up for
    * few, where rounding down would make files of nearly twice the target.
    *
    * Example: 1.9 targets' worth of bytes makes 2 files of 0.95; 24.6 makes 24 of 1.025.
    *
    * @param maxRecords most rows a file may hold (`spark.sql.files.maxRecordsPerFile`); 0 or less
    *                   is no limit
    */
  def of(bytes: Long, targetBytes: Long, rows: Long, maxRecords: Long): Int =
    unlimited(bytes, targetBytes, rows, maxRecords).min(MaxFiles.toDouble).toInt

  /** The same before it is limited to what one job can write: for files that are yet to be divided
    * among jobs.
    */
  def unlimited(bytes: Long, targetBytes: Long, rows: Long, maxRecords: Long): Double =
    of(bytes, targetBytes, rows, maxRecords, RecordsHeadroom)

  /** The same if all rows are known, so that files may be filled up to `maxRecords`. */
  def min(bytes: Long, targetBytes: Long, rows: Long, maxRecords: Long): Int =
    of(bytes, targetBytes, rows, maxRecords, 1.0).min(MaxFiles.toDouble).toInt

  private def of(
      bytes: Long,
      targetBytes: Long,
      rows: Long,
      maxRecords: Long,
      headroom: Double): Double = {
    require(targetBytes > 0, s"targetBytes must be positive, not $targetBytes")
    val byBytes = math.ceil(bytes.toDouble / targetBytes / MaxOver)
    val byRows = if (maxRecords <= 0) 1.0 else math.ceil(rows / (maxRecords * headroom))
    val evenRows = if (maxRecords > 0 && rows <= maxRecords) 1.0 else byRows
    // No more files than rows.
    math.max(1.0, math.min(math.max(byBytes, evenRows), rows.toDouble))
  }

  /** The number of shuffle partitions is an Int, and each costs driver memory. */
  val MaxFiles = 1000000
}
