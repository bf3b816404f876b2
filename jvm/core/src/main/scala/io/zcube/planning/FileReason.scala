package io.zcube.planning

/** Why a file is rewritten, or why it stays as it is.
  *
  * @param text  for plans that users read
  * @param isDue whether it is rewritten for its own sake: it isn't well laid out yet, so that queries
  *   gain at once. Other files are rewritten for what becomes of them together
  */
sealed abstract class FileReason(val text: String, val isDue: Boolean = false)

object FileReason {

  // Why a file is rewritten.
  case object Fresh extends FileReason("fresh", isDue = true)
  case object DeletedRows extends FileReason("deleted rows", isDue = true)
  case object FileSize extends FileReason("file size", isDue = true)
  case object OtherColumns extends FileReason("other columns", isDue = true)
  case object OtherLayout extends FileReason("another curve, weights or workload", isDue = true)
  case object SmallCube extends FileReason("small cube")
  case object LargestCube extends FileReason("largest cube")
  case object Overlaps extends FileReason("overlaps")
  case object Full extends FileReason("full", isDue = true)

  // Why a file stays.
  case object InCube extends FileReason("in a cube")
  case object Waits extends FileReason("fresh, of the right size, waits for more")
  case object Stable extends FileReason("stable")
  case object KeptOverlapping extends FileReason("overlaps since jobs were too small")
  case object KeptOtherColumns extends FileReason("other columns, until OPTIMIZE FULL")
  case object KeptOtherLayout
      extends FileReason("another curve, weights or workload, until OPTIMIZE FULL")
  case object NotSmall extends FileReason("not small enough for auto compaction")
  case object OverBudget extends FileReason("over budget")
  case object NotSelected extends FileReason("outside WHERE")
}
