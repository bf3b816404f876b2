package io.zcube.planning

/** How much of each column the files of a group cover: a week of a year, but all customers.
  *
  * A column's extent is the share of the table's or partition's bytes in files that the group meets
  * in this column; files with only NULLs in it don't count. So it is 1 where files aren't cut: of a
  * column that old files all cover, a few new ones that cover nine tenths of it meet everything. Where
  * no file differs from the others, or the group has only NULLs, cuts can't be seen, and the extent is
  * the least of the other columns'.
  *
  * Example: 50 files for each of four quarters of a year, each of them covering all customers; then
  * two files for the last days of December meet a quarter in time, and everything by customer.
  *
  * @param files of the table or partition, or those of them that WHERE selects; groups included
  */
final class Extents(files: Seq[DataFile]) {
  import Extents._

  private lazy val known = files.filter(_.ranges.dimensions > 0).toArray

  /** Whether files have different bounds in a column. They haven't if it isn't in the statistics, is
    * constant, or has texts with a longer prefix in common than is stored.
    */
  private def differs(column: Int): Boolean = column < differing.length && differing(column)

  private lazy val differing: Array[Boolean] =
    Array.tabulate(known.headOption.fold(0)(_.ranges.dimensions)) { i =>
      val valued = known.iterator.map(_.ranges).filter(r => r.dimensions > i && !r.isEmpty(i))
      valued.nextOption().exists { first =>
        valued.exists(r => r.lower(i) != first.lower(i) || r.upper(i) != first.upper(i))
      }
    }

  /** For each column, more than 0 to 1; empty if the extents are about equal, or unknown. */
  def of(group: Seq[PlannedFile]): Seq[Double] = {
    val around = KeyRanges.union(group.map(_.file.ranges))
    val met, bytes = Array.fill(around.dimensions)(0.0)
    known.foreach { file =>
      val ranges = file.ranges
      var i = 0
      while (i < met.length && ranges.dimensions == met.length) {
        if (!ranges.isEmpty(i)) {
          bytes(i) += file.bytes
          if (ranges.lower(i) <= around.upper(i) && ranges.upper(i) >= around.lower(i))
            met(i) += file.bytes
        }
        i += 1
      }
    }
    val measured = met.toSeq.zip(bytes).map { case (some, all) => some / math.max(1.0, all) }
    // Cuts by a column in which all files look alike are of no use to queries.
    def isCut(i: Int) = differs(i) && !around.isEmpty(i)
    val least = measured.indices.filter(isCut).map(measured).minOption.getOrElse(1.0)
    val extents = measured.indices.map(i => if (isCut(i)) measured(i) else least)
    if (extents.exists(_ <= 0) || extents.isEmpty || extents.max < Uneven * extents.min) Nil
    else extents
  }
}

private object Extents {

  /** If they differ by less, no cut would be another one. */
  private val Uneven = 2.0
}
